"""Old snapshots of transactions, as the doctor finds them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import psycopg

from minutehand import Database
from minutehand.doctor import ExaminedDatabase, examine_database
from tests.doctor.conftest import Examine, Installation, complaints
from tests.waiting import until


def test_old_snapshot_is_reported_with_its_process_and_program(
    installation: Installation, examine: Examine
) -> None:
    with psycopg.connect(installation.admin_url, application_name="analytics") as other:
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1")
        findings = examine(installation.url, longest_transaction=timedelta(0))
        examined = examine(installation.url)
        process = other.info.backend_pid

    assert complaints(findings) == {"old-snapshot"}
    assert f"pid {process}, analytics" in findings["old-snapshot"].found
    assert str(process) in findings["old-snapshot"].advice
    assert complaints(examined) == set()


def test_vacuum_is_not_an_old_snapshot(installation: Installation, examine: Examine) -> None:
    """A vacuum that waits for its lock holds a snapshot."""
    with psycopg.connect(installation.admin_url) as other, ThreadPoolExecutor() as threads:
        other.execute("lock table minutehand.jobs_live in share update exclusive mode")
        vacuum = threads.submit(installation.sql, " Vacuum minutehand.jobs_live")
        try:
            until_one_waits(installation)
            findings = examine(installation.url, longest_transaction=timedelta(0))
            with closing(Database(installation.admin_url)) as database:
                (health,) = database.run("health")
        finally:
            other.rollback()
            vacuum.result()

    assert complaints(findings) == set()
    assert health["snapshot"] == timedelta(0)


def until_one_waits(installation: Installation) -> None:
    """Wait until a session with a snapshot waits for a lock."""
    waiting = (
        "select from pg_stat_activity where wait_event_type = 'Lock' and backend_xmin is not null"
        " and datname = current_database()"
    )
    with psycopg.connect(installation.admin_url, autocommit=True) as admin:
        until(lambda: admin.execute(waiting).fetchone() is not None)


def test_snapshot_without_a_statement_is_reported(installation: Installation) -> None:
    examined = ExaminedDatabase(Database(installation.url), None, 50)
    examined.query("examine_snapshots").update(
        age=timedelta(hours=1), pid=42, name="walsender", statement=None
    )
    findings = {finding.check: finding for finding in examine_database(examined)}
    examined.database.close()

    assert complaints(findings) == {"old-snapshot"}
    assert (
        findings["old-snapshot"].found
        == "a transaction has been open for 3600 s: pid 42, walsender, no statement"
    )


def test_prepared_transaction_is_an_old_snapshot(installation: Installation, examine: Examine) -> None:
    with psycopg.connect(installation.admin_url, autocommit=True) as other:
        other.execute("begin; select txid_current(); prepare transaction 'forgotten'")
    findings = examine(installation.url, longest_transaction=timedelta(0))
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
