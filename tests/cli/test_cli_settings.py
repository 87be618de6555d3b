"""`minutehand settings` shows values and origins, masks secrets, and reports invalid values."""

import json

import pytest
from click.testing import CliRunner, Result

from minutehand.cli.commands.settings import settings
from minutehand.settings.table import SETTINGS

HIDDEN = "hunter2"


def run(environment: dict[str, str], *arguments: str) -> Result:
    """Run the command with only these settings."""
    unset = dict.fromkeys(SETTINGS)
    return CliRunner().invoke(settings, arguments, env={**unset, **environment}, standalone_mode=False)


def rows(environment: dict[str, str]) -> dict[str, dict[str, object]]:
    lines = run(environment, "-o", "json").stdout.splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def test_settings_prints_every_setting_with_its_default() -> None:
    result = run({})

    assert result.return_value == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [*SETTINGS]
    assert ["MINUTEHAND_CAPACITY", "50", "default"] in [line.split() for line in result.stdout.splitlines()]


def test_settings_prints_values_of_the_environment() -> None:
    row = rows({"MINUTEHAND_CAPACITY": "7"})["MINUTEHAND_CAPACITY"]

    assert (row["value"], row["origin"], row["error"]) == ("7", "environment", None)


@pytest.mark.parametrize(
    ("environment", "name", "value", "origin"),
    [
        (
            {"DATABASE_URL": f"postgresql://ada:{HIDDEN}@db/app"},
            "DATABASE_URL",
            "postgresql://ada:********@db/app",
            "environment",
        ),
        (
            {"DATABASE_URL": f"postgresql://ada@db/app?password=1@{HIDDEN}"},
            "DATABASE_URL",
            "postgresql://ada@db/app?********",
            "environment",
        ),
        ({"MINUTEHAND_DATABASE_SECRET": "db"}, "DATABASE_URL", "********", "secret"),
        ({"MINUTEHAND_API_TOKENS": HIDDEN}, "MINUTEHAND_API_TOKENS", "********", "environment"),
        ({"MINUTEHAND_API_TOKENS_SECRET": "tokens"}, "MINUTEHAND_API_TOKENS", "********", "secret"),
    ],
)
def test_settings_masks_secrets(environment: dict[str, str], name: str, value: str, origin: str) -> None:
    row = rows(environment)[name]

    assert (row["value"], row["origin"]) == (value, origin)
    assert HIDDEN not in run(environment).output


def test_settings_reports_all_invalid_values_and_exits_with_2() -> None:
    result = run({"MINUTEHAND_CAPACITY": "abc", "MINUTEHAND_CONSOLE": "yes"})

    assert result.return_value == 2
    assert result.stderr.splitlines() == [
        "error: MINUTEHAND_CAPACITY must be an integer from 1 to 10000, got 'abc'",
        "error: MINUTEHAND_CONSOLE must be 1, 0, true or false, got 'yes'",
    ]


def test_settings_and_doctor_warn_of_a_misspelled_variable(invoke, lines, monkeypatch) -> None:
    monkeypatch.setenv("MINUTEHAND_CAPCITY", "7")
    monkeypatch.setenv("MINUTEHAND_TEST_DATABASE_URLS", "of a test")
    monkeypatch.setenv("MINUTEHAND_WEATHER", "of the team")

    expected = "MINUTEHAND_CAPCITY is not a setting; did you mean MINUTEHAND_CAPACITY?"
    assert invoke("settings").stderr == f"warning: {expected}\n"
    first, second, *_ = lines(invoke("doctor", "-o", "json"))
    assert (first["verdict"], first["found"], second["check"]) == ("warning", expected, "reachable")
