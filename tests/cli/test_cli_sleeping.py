"""A command that changes jobs warns if the dispatcher sleeps and the command requests no tick."""

from collections.abc import Callable

import click
import psycopg
import pytest
from click.testing import CliRunner

from minutehand.cli.app import cli
from minutehand.cli.sleeping import NEED_TICK, WARNING
from tests.cli.conftest import Invoke
from tests.servers import Database

WARNED = WARNING + "\n"


@pytest.fixture
def set_mode(direct_database: Database) -> Callable[[str], None]:
    """Store the mode of the latest tick."""

    def store(mode: str) -> None:
        with psycopg.connect(direct_database.url) as connection:
            connection.execute("update minutehand.dispatcher set mode = %s", [mode])

    return store


@pytest.mark.parametrize(
    "arguments", ["enqueue echo", "limit 2 --kind echo", "schedules put daily @daily echo"]
)
def test_change_warns_of_a_sleeping_dispatcher(
    arguments: str, invoke: Invoke, set_mode: Callable[[str], None]
) -> None:
    set_mode("sleep")

    result = invoke(*arguments.split())

    assert result.exit_code == 0
    assert result.stderr.endswith(WARNED)


def test_warning_does_not_depend_on_the_name_of_the_program(
    invoke: Invoke, set_mode: Callable[[str], None]
) -> None:
    set_mode("sleep")
    result = CliRunner().invoke(cli, ["enqueue", "echo"], prog_name="python -m minutehand")

    assert result.stderr.endswith(WARNED)


def test_refused_change_does_not_warn(invoke: Invoke, set_mode: Callable[[str], None]) -> None:
    set_mode("sleep")

    result = invoke("schedules", "resume", "absent")

    assert result.exit_code == 1
    assert WARNED not in result.stderr


def test_role_without_the_mode_gets_no_warning(
    invoke: Invoke, set_mode: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_mode("sleep")
    monkeypatch.setenv("PGOPTIONS", "-c role=minutehand_enqueuer")

    result = invoke("enqueue", "echo")

    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("mode", ["minute", "prompt"])
def test_change_does_not_warn_in_the_mode(mode: str, invoke: Invoke, set_mode: Callable[[str], None]) -> None:
    set_mode(mode)

    assert invoke("enqueue", "echo").stderr == ""


def test_listing_does_not_warn(invoke: Invoke, set_mode: Callable[[str], None]) -> None:
    set_mode("sleep")

    assert WARNED not in invoke("ls").stderr


def test_commands_that_need_a_tick_exist() -> None:
    context = click.Context(cli)
    for name in NEED_TICK:
        command: click.Command | None = cli
        for word in name.split():
            assert isinstance(command, click.Group)
            command = command.get_command(context, word)
        assert command is not None, name
