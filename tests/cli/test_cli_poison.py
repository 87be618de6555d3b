"""Every command shows whatever the tables contain."""

import json

import pytest

from tests.cli.conftest import Invoke
from tests.poison import job_ids, poison
from tests.servers import Database
from tests.thorough import amount

COMMANDS = (
    "ls --all",
    "ls --all -o json",
    "ls --last --total",
    "stats --all",
    "stats --all --by kind -o json",
    "stats --since 9000d --durations",
    "stats --since 9000d --failures",
    "stats --today",
    "stats --histogram day --each kind",
    "events --limit 1000",
    "events --limit 1000 -o json",
    "audit --limit 1000",
    "audit --limit 1000 -o json",
    "controls",
    "controls -o json",
    "defaults",
    "defaults -o json",
    "retention",
    "retention -o json",
    "queues",
    "schedules ls",
    "schedules ls -o json",
    "schedules show s1 -n 1000",
    "show --queue poison --key k1 --payload",
)


@pytest.fixture
def poisoned(direct_database: Database) -> Database:
    poison(direct_database.admin_url)
    return direct_database


def test_every_command_shows_odd_rows(invoke: Invoke, poisoned: Database) -> None:
    results = {command: invoke(*command.split()) for command in COMMANDS}

    assert {command: result.output for command, result in results.items() if result.exit_code} == {}
    assert "\x1b" not in results["ls --all"].stdout
    found = map(json.loads, results["schedules ls -o json"].stdout.splitlines())
    assert "private" not in str([each["job"] for each in found])


@pytest.mark.thorough
def test_every_job_with_an_odd_value_is_shown(invoke: Invoke, poisoned: Database) -> None:
    # Every column has at least four odd values, one after another.
    ids = job_ids(poisoned.admin_url)[:: amount(4, 1)]
    # Each form takes a third: every odd value is in several columns.
    forms = [("--payload",), ("--payload", "-o", "json"), ()]
    results = {id: invoke("show", str(id), *forms[place % 3]) for place, id in enumerate(ids)}

    assert {id: result.output for id, result in results.items() if result.exit_code} == {}
