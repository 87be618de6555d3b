"""Database checks of the doctor: each planted fault is found by its check only."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import LiteralString

import pytest
from click.testing import CliRunner

from minutehand import Database
from minutehand.cli.app import cli
from minutehand.doctor import DATABASE_CHECKS, ExaminedDatabase, examine_database
from tests.conftest import NewDatabase
from tests.doctor.conftest import Examine, Installation, complaints
from tests.doctor.database_faults import DATABASE_FAULTS


def test_healthy_database_passes_every_check(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url)

    assert [*findings] == [*DATABASE_CHECKS]
    assert {finding.verdict for finding in findings.values()} == {"ok"}, findings
    assert not any(finding.advice for finding in findings.values())


@pytest.mark.parametrize("fault", DATABASE_FAULTS)
def test_fault_is_found_only_by_its_check(installation: Installation, examine: Examine, fault: str) -> None:
    check, verdict, words, break_it = DATABASE_FAULTS[fault]
    break_it(installation)
    findings = examine(installation.url)

    assert complaints(findings) == {check}
    assert (findings[check].verdict, words in findings[check].found) == (verdict, True), findings[check]
    assert findings[check].advice


@pytest.mark.parametrize(
    ("queues", "command"), [(2, "run: minutehand work --queue queue-1,queue-2"), (7, "run: minutehand work")]
)
def test_worker_of_queues_without_one_is_advised(
    installation: Installation, examine: Examine, queues: int, command: str
) -> None:
    installation.sql(
        f"select minutehand.enqueue('echo', queue => 'queue-' || n) from generate_series(1, {queues}) n;"
        "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '10 minutes'"
    )

    assert examine(installation.url)["late"].advice.endswith(command)


def test_advice_on_dead_jobs_deletes_only_these(installation: Installation, examine: Examine) -> None:
    installation.sql("insert into minutehand.jobs (kind, deleted, failed) values ('echo', now(), true)")

    commands = examine(installation.url)["dead"].advice.split("minutehand ")[1:]
    assert all("--state dead" in command for command in commands)


def test_stack_without_a_tick_is_a_problem(installation: Installation, examine: Examine) -> None:
    installation.sql("update minutehand.dispatcher set ticked = '-infinity'")

    assert examine(installation.url, stacked=True)["last-tick"].verdict == "problem"


def test_idle_stack_in_mode_sleep_needs_no_tick(installation: Installation, examine: Examine) -> None:
    installation.sql("update minutehand.dispatcher set ticked = now() - interval '2 hours', mode = 'sleep'")

    assert examine(installation.url, stacked=True)["last-tick"].verdict == "ok"


def test_wrong_clock_is_found(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url, now=lambda: datetime.now(UTC) - timedelta(seconds=5))

    assert complaints(findings) == {"clock"}
    # Its time is compared with the middle of a round trip.
    assert re.search(r"\b[45]\.\d s ahead of this machine's", findings["clock"].found)


def test_capacity_above_the_connections_is_found(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url, capacity=101)

    assert complaints(findings) == {"connections"}
    assert "of 100 connections are free, and the capacity is 101" in findings["connections"].found
    assert re.search(r"; .+ has \d+, the most of all programs$", findings["connections"].found)


def test_missing_schema_is_reported_once(installation: Installation, examine: Examine) -> None:
    installation.sql("drop schema minutehand cascade")
    findings = examine(installation.url)

    assert complaints(findings) == {"schema"}
    assert "no minutehand schema yet" in findings["schema"].found
    assert "run: minutehand migrate" in findings["schema"].advice


def test_unreachable_database_is_reported_once(examine: Examine) -> None:
    findings = examine("postgresql://ada:s3cret@127.0.0.1:1/jobs")

    assert complaints(findings) == {"reachable"}
    assert {finding.verdict for finding in findings.values()} == {"problem", "skipped"}
    assert "s3cret" not in str(findings)


def test_disabled_autovacuum_is_found(new_database: NewDatabase, examine: Examine) -> None:
    finding = examine(new_database().url)["autovacuum"]

    assert (finding.verdict, finding.found) == ("problem", "autovacuum is off on this server")


def test_old_server_version_is_found(installation: Installation) -> None:
    examined = ExaminedDatabase(Database(installation.url), None, 50)
    examined.query("examine_server").update(version=140012, named="14.12")
    findings = {finding.check: finding for finding in examine_database(examined)}
    examined.database.close()

    assert complaints(findings) == {"version"}
    assert findings["version"].found == "PostgreSQL 14.12"


def test_read_only_database_can_be_examined(installation: Installation, examine: Examine) -> None:
    installation.sql("alter database {} set default_transaction_read_only = on", installation.name)

    assert complaints(examine(installation.url)) == {"writable"}


def test_doctor_exits_with_0_for_warnings_and_1_for_problems(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    endings = []
    for change in WORSE:
        installation.sql(change)
        ended = CliRunner().invoke(cli, ["doctor", "--database-url", installation.url])
        endings.append((ended.exit_code, ended.stderr))

    assert endings == [
        (0, "26 checks: 26 ok.\n"),
        (0, "26 checks: 25 ok, 1 warning.\n"),
        (1, "26 checks: 24 ok, 1 problem, 1 warning.\n"),
    ]


WORSE: list[LiteralString] = [
    "select 1",
    "update minutehand.settings set max_payload = 8000000",
    "insert into minutehand.migrations values (99, 'later', '')",
]
