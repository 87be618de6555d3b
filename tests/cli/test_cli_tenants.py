"""`--tenant` limits a command to the jobs of one tenant."""

import json
from typing import Any

import click
import pytest

from minutehand.cli.app import cli
from minutehand.cli.command_names import COMMANDS

# They affect all tenants, or no job at all. (`pause`, `limit`, `share` and their opposites use the option as a filter.)
WITHOUT = {
    "migrate",
    "dev",
    "controls",
    "defaults",
    "retention",
    "reencrypt",
    "cost",
    "schedules preview",
    "tick",
    "top",
    "work",
    "doctor",
    "settings",
    "completion",
    "init",
    "link",
    "upgrade",
}
OPEN = "echo", '"hello"'


def verbs() -> dict[str, click.Command]:
    context = click.Context(cli)
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        found |= (
            {f"{name} {each}": inner for each, inner in command.commands.items()}
            if isinstance(command, click.Group)
            else {name: command}
        )
    return found


def test_every_command_has_the_option_or_is_listed_without_it() -> None:
    without = {
        name for name, verb in verbs().items() if "tenant" not in {option.name for option in verb.params}
    }

    assert without == WITHOUT


@pytest.fixture
def ids(invoke) -> dict[str, str]:
    """A job of each of two tenants, and one without a tenant."""
    made = {}
    for tenant in ("a", "b", ""):
        says = ("--tenant", tenant) if tenant else ()
        done = invoke(
            "enqueue", *OPEN, "--key", "k", "--in", "1h", "--on-conflict", "raise", "-o", "ids", *says
        )
        assert done.exit_code == 0, done.output
        made[tenant] = done.stdout.strip()
    return made


def listed(invoke, *options: str) -> set[Any]:
    return {json.loads(line)["id"] for line in invoke("ls", "-o", "json", *options).stdout.splitlines()}


def test_tenant_sees_its_own_jobs(invoke, ids) -> None:
    assert listed(invoke) == {*ids.values()}
    assert listed(invoke, "--tenant", "a") == {ids["a"]}
    assert listed(invoke, "--tenant", "c") == set()
    assert json.loads(invoke("stats", "-o", "json", "--tenant", "a").stdout)["jobs"] == 1
    assert invoke("show", ids["a"], "--tenant", "a").exit_code == 0
    assert invoke("show", ids["b"], "--tenant", "a").exit_code == 1


@pytest.mark.parametrize("verb", [("cancel",), ("promote",), ("reschedule", "--in", "2h")])
def test_tenant_changes_its_own_jobs(invoke, ids, verb) -> None:
    refused = invoke(*verb, ids["b"], ids[""], "--tenant", "a", "--yes")
    changed = invoke(*verb, ids["a"], "--tenant", "a", "--yes")

    assert (refused.exit_code, changed.exit_code) == (1, 0)
    assert "job not found" in refused.output


def test_tenant_deletes_its_own_jobs(invoke, ids) -> None:
    assert invoke("cancel", *ids.values(), "--yes").exit_code == 0
    assert invoke("delete", "--finished-until", "0s", "--yes", "--tenant", "a").exit_code == 0
    assert listed(invoke) == {ids["b"], ids[""]}


def test_file_is_enqueued_for_a_tenant(invoke, tmp_path) -> None:
    (tmp_path / "jobs.ndjson").write_text('{"kind": "echo"}\n{"kind": "echo"}\n')
    done = invoke("enqueue", "--file", str(tmp_path / "jobs.ndjson"), "--tenant", "a")

    assert done.exit_code == 0, done.output
    assert len(listed(invoke, "--tenant", "a")) == 2
    assert listed(invoke, "--tenant", "b") == set()


@pytest.mark.parametrize("name", ["", "a b", "-a", "x" * 101])
def test_invalid_tenant_name_is_rejected(invoke, name) -> None:
    assert invoke("ls", "--tenant", name).exit_code == 2
