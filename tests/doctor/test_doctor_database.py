"""Database checks of the doctor: each planted fault is found by its check only."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql

from minutehand import Database
from minutehand.cli.app import cli
from minutehand.doctor import DATABASE_CHECKS, Patient, examine_database
from tests.conftest import NewDatabase
from tests.doctor.conftest import Examine, Installation, complaints
from tests.servers import Servers

Plant = Callable[[Installation], Any]

# A check, how it complains, words that name the fault, and the fault.
PLANTS: dict[str, tuple[str, str, str, Plant]] = {
    "read only": ("writable", "problem", "set to read only",
                  lambda w: w.sql("alter database {} set default_transaction_read_only = on", w.name)),
    "superuser": ("login", "warning", "is a superuser", lambda w: w.sql("alter role {} superuser", w.login)),
    "a later schema": ("schema", "problem", "version 99, newer than this code",
                       lambda w: w.sql("insert into minutehand.migrations values (99, 'later', '')")),
    "a changed migration": ("schema", "problem", "was changed after it was applied",
                            lambda w: w.sql("update minutehand.migrations set checksum = '' where version = 2")),
    "table without autovacuum": ("autovacuum", "problem", "off for minutehand.jobs_live",
                                 lambda w: w.sql("alter table minutehand.jobs_live set (autovacuum_enabled = false)")),
    "no day for tomorrow": ("days", "problem", "has no partition", lambda w: drop_tomorrow(w)),
    "a job without a day": ("default-day", "warning", "1 job in jobs_done_default",
                            lambda w: w.sql("insert into minutehand.jobs (kind, deleted) values ('a', '2020-01-01')")),
    "a late tick": ("last-tick", "problem", "the last tick was 3",
                    lambda w: w.sql("update minutehand.dispatcher set ticked = now() - interval '5 minutes 10 s'")),
    "no tick ever": ("last-tick", "warning", "no dispatcher has ticked yet",
                     lambda w: w.sql("update minutehand.dispatcher set ticked = '-infinity'")),
    "a late job": ("late", "problem", "queue mail has a job that is due for",
                   lambda w: w.sql("select minutehand.enqueue('echo', queue => 'mail');"
                                   "update minutehand.jobs_live set visible = now() - interval '10 minutes'")),
    "a dead job": ("dead", "warning", "1 job died",
                   lambda w: w.sql("insert into minutehand.jobs (kind, deleted, failed) values ('echo', now(), true)")),
    "large payloads": ("max-payload", "warning", "8000000 bytes",
                       lambda w: w.sql("update minutehand.settings set max_payload = 8000000")),
    "dead rows": ("dead-rows", "problem", "dead rows and", lambda w: leave_dead_rows(w)),
    "few connections": ("connections", "problem", "2 of 100 connections are free",
                        lambda w: w.sql("alter role {} connection limit 3", w.login)),
}  # fmt: skip


def drop_tomorrow(installation: Installation) -> None:
    day = f"jobs_done_{datetime.now(UTC) + timedelta(days=1):%Y%m%d}"
    installation.sql("drop table minutehand.{}", day)


def leave_dead_rows(installation: Installation) -> None:
    with psycopg.connect(installation.admin_url, autocommit=True) as admin:
        admin.execute("select pg_stat_force_next_flush()")
        admin.execute("insert into minutehand.jobs_live (kind) select 'echo' from generate_series(1, 10100)")
        admin.execute("select pg_stat_force_next_flush()")
        admin.execute("delete from minutehand.jobs_live")
        admin.execute("select pg_stat_force_next_flush()")


def test_healthy_database_passes_every_check(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url)

    assert [*findings] == [*DATABASE_CHECKS]
    assert {finding.verdict for finding in findings.values()} == {"ok"}, findings
    assert not any(finding.advice for finding in findings.values())


@pytest.mark.parametrize("fault", PLANTS)
def test_fault_is_found_only_by_its_check(installation: Installation, examine: Examine, fault: str) -> None:
    check, verdict, words, plant = PLANTS[fault]
    plant(installation)
    findings = examine(installation.url)

    assert complaints(findings) == {check}
    assert (findings[check].verdict, words in findings[check].found) == (verdict, True), findings[check]
    assert findings[check].advice


def test_stack_without_a_tick_is_a_problem(installation: Installation, examine: Examine) -> None:
    installation.sql("update minutehand.dispatcher set ticked = '-infinity'")

    assert examine(installation.url, stacked=True)["last-tick"].verdict == "problem"


def test_wrong_clock_is_found(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url, now=lambda: datetime.now(UTC) - timedelta(seconds=5))

    assert complaints(findings) == {"clock"}
    assert "5.0 s ahead of this machine's" in findings["clock"].found


def test_capacity_above_the_connections_is_found(installation: Installation, examine: Examine) -> None:
    findings = examine(installation.url, capacity=101)

    assert complaints(findings) == {"connections"}
    assert "of 100 connections are free, and the capacity is 101" in findings["connections"].found


def test_old_snapshot_is_reported_with_its_process_and_program(
    installation: Installation, examine: Examine
) -> None:
    with psycopg.connect(installation.admin_url, application_name="analytics") as other:
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1")
        findings = examine(installation.url, patience=timedelta(0))
        patient = examine(installation.url)
        process = other.info.backend_pid

    assert complaints(findings) == {"old-snapshot"}
    assert f"pid {process}, analytics" in findings["old-snapshot"].found
    assert str(process) in findings["old-snapshot"].advice
    assert complaints(patient) == set()


def test_vacuum_is_not_an_old_snapshot(installation: Installation, examine: Examine) -> None:
    """One that waits for its lock has a snapshot all the while."""
    with psycopg.connect(installation.admin_url) as other, ThreadPoolExecutor() as threads:
        other.execute("lock table minutehand.jobs_live in share update exclusive mode")
        vacuum = threads.submit(installation.sql, " Vacuum minutehand.jobs_live")
        try:
            until_one_waits(installation)
            findings = examine(installation.url, patience=timedelta(0))
            with closing(Database(installation.admin_url)) as database:
                (health,) = database.run("health")
        finally:
            other.rollback()
            vacuum.result()

    assert complaints(findings) == set()
    assert health["snapshot"] == timedelta(0)


def until_one_waits(installation: Installation) -> None:
    """Wait until a session waits for a lock, with a snapshot."""
    waiting = (
        "select from pg_stat_activity where wait_event_type = 'Lock' and backend_xmin is not null"
        " and datname = current_database()"
    )
    deadline = monotonic() + 30
    with psycopg.connect(installation.admin_url, autocommit=True) as admin:
        while admin.execute(waiting).fetchone() is None:
            assert monotonic() < deadline, "nobody waits"


def test_snapshot_without_a_statement_is_reported(installation: Installation) -> None:
    patient = Patient(Database(installation.url), Database(installation.url), 50)
    patient.query("examine_snapshots").update(
        age=timedelta(hours=1), pid=42, name="walsender", statement=None
    )
    findings = {finding.check: finding for finding in examine_database(patient)}
    patient.database.close()
    patient.another.close()

    assert complaints(findings) == {"old-snapshot"}
    assert (
        findings["old-snapshot"].found
        == "a transaction has been open for 3600 s: pid 42, walsender, no statement"
    )


def test_prepared_transaction_is_an_old_snapshot(installation: Installation, examine: Examine) -> None:
    with psycopg.connect(installation.admin_url, autocommit=True) as other:
        other.execute("begin; select txid_current(); prepare transaction 'forgotten'")
    findings = examine(installation.url, patience=timedelta(0))
    with psycopg.connect(installation.admin_url, autocommit=True) as other:
        other.execute("rollback prepared 'forgotten'")

    assert complaints(findings) == {"old-snapshot"}
    assert "prepared transaction forgotten" in findings["old-snapshot"].found


def test_old_snapshot_is_skipped_without_pg_read_all_stats(
    installation: Installation, examine: Examine
) -> None:
    installation.sql("revoke pg_read_all_stats from {}", installation.login)
    findings = examine(installation.url)

    assert complaints(findings) == set()
    assert findings["old-snapshot"].verdict == "skipped"
    assert "pg_read_all_stats" in findings["old-snapshot"].found


def test_checks_without_privileges_are_skipped(installation: Installation, examine: Examine) -> None:
    installation.sql("revoke minutehand_operator, minutehand_worker from {}; grant minutehand_enqueuer to {}",
              installation.login, installation.login)  # fmt: skip
    findings = examine(installation.url)

    skipped = {name for name, finding in findings.items() if finding.verdict == "skipped"}
    assert complaints(findings) == set()
    assert skipped == {
        "autovacuum",
        "dead-rows",
        "days",
        "default-day",
        "last-tick",
        "late",
        "dead",
        "max-payload",
    }
    assert "minutehand_operator" in findings["days"].found


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
    patient = Patient(Database(installation.url), Database(installation.url), 50)
    patient.query("examine_server").update(version=140012, named="14.12")
    findings = {finding.check: finding for finding in examine_database(patient)}
    patient.database.close()
    patient.another.close()

    assert complaints(findings) == {"version"}
    assert findings["version"].found == "PostgreSQL 14.12"


GRANTS = """
    select a.grantee::regrole::text, a.privilege_type, 'table ' || c.oid::regclass, null
      from pg_class c, aclexplode(relacl) a where relnamespace = 'minutehand'::regnamespace
    union all
    select a.grantee::regrole::text, a.privilege_type, 'table ' || attrelid::regclass, attname
      from pg_attribute, aclexplode(attacl) a
    union all
    select a.grantee::regrole::text, a.privilege_type, 'function ' || p.oid::regprocedure, null
      from pg_proc p, aclexplode(proacl) a where pronamespace = 'minutehand'::regnamespace
    union all
    select a.grantee::regrole::text, a.privilege_type, 'schema ' || nspname, null
      from pg_namespace, aclexplode(nspacl) a where nspname = 'minutehand'"""
ANYBODYS = (
    "function minutehand.enqueue(",
    "function minutehand.state(",
    "function minutehand.enqueue_all(",
    "function minutehand.busy(",
)


def test_every_missing_grant_is_found(installation: Installation) -> None:
    """Revoked one by one; what PUBLIC may do besides is missed by nobody."""
    with psycopg.connect(installation.admin_url) as admin:
        grants = [
            grant
            for grant in admin.execute(GRANTS).fetchall()
            if grant[0].startswith("minutehand_") and not grant[2].startswith(ANYBODYS)
        ]
        whole = {grant[:3] for grant in grants if grant[3] is None}
        missed = []
        for role, privilege, thing, column in grants:
            if column and (role, privilege, thing) in whole:
                continue  # its loss is none
            with admin.transaction(force_rollback=True):
                what = f'{privilege} ("{column}")' if column else privilege
                admin.execute(sql.SQL(f"revoke {what} on {thing} from {role}"))  # type: ignore[arg-type]
                patient = Patient(Database.borrow(admin), Database.borrow(admin), 50)
                found = next(f for f in examine_database(patient) if f.check == "roles")
                if found.verdict != "problem" or not found.found.startswith(
                    f"{role} lacks {privilege.lower()}"
                ):
                    missed.append((role, privilege, thing, column))

    assert len(grants) > 60
    assert missed == [], str(missed)


def test_missing_role_is_a_warning(installation: Installation, examine: Examine, servers: Servers) -> None:
    """Roles belong to the server, so this one is renamed for a moment, on a server of its own."""
    installation.sql("alter role minutehand_migrator rename to somebody_else")
    try:
        findings = examine(installation.url)
    finally:
        installation.sql("alter role somebody_else rename to minutehand_migrator")

    assert complaints(findings) == {"roles"}
    assert findings["roles"].found == "the role does not exist: minutehand_migrator"


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
        (0, "20 checks: 20 ok.\n"),
        (0, "20 checks: 19 ok, 1 warning.\n"),
        (1, "20 checks: 18 ok, 1 problem, 1 warning.\n"),
    ]


WORSE: list[LiteralString] = [
    "select 1",
    "update minutehand.settings set max_payload = 8000000",
    "insert into minutehand.migrations values (99, 'later', '')",
]
