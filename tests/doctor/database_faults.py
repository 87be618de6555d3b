"""Faults of a database, and the check that finds each."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from tests.doctor.conftest import Installation

Break = Callable[[Installation], Any]
# By fault: the check that finds it, its verdict, a part of its message, and a function that causes the fault.
DATABASE_FAULTS: dict[str, tuple[str, str, str, Break]] = {
    "read only": (
        "writable",
        "problem",
        "the database is read-only",
        lambda w: w.sql("alter database {} set default_transaction_read_only = on", w.name),
    ),
    "superuser": ("login", "warning", "is a superuser", lambda w: w.sql("alter role {} superuser", w.login)),
    "a later schema": (
        "schema",
        "problem",
        "version 99, newer than this code",
        lambda w: w.sql("insert into minutehand.migrations values (99, 'later', '')"),
    ),
    "a changed migration": (
        "schema",
        "problem",
        "was changed after it was applied",
        lambda w: w.sql("update minutehand.migrations set checksum = '' where version = 2"),
    ),
    "table without autovacuum": (
        "autovacuum",
        "problem",
        "off for minutehand.jobs_live",
        lambda w: w.sql("alter table minutehand.jobs_live set (autovacuum_enabled = false)"),
    ),
    "no day for tomorrow": ("days", "problem", "has no partition", lambda w: drop_tomorrow(w)),
    "a job without a day": (
        "default-day",
        "warning",
        "1 job in jobs_done_default",
        lambda w: w.sql("insert into minutehand.jobs (kind, deleted) values ('a', '2020-01-01')"),
    ),
    "a late tick": (
        "last-tick",
        "problem",
        "the last tick was 5 min",
        lambda w: w.sql("update minutehand.dispatcher set ticked = now() - interval '5 minutes 5 s'"),
    ),
    "no tick ever": (
        "last-tick",
        "warning",
        "no dispatcher has ticked yet",
        lambda w: w.sql("update minutehand.dispatcher set ticked = '-infinity'"),
    ),
    "a wake-up that failed": (
        "wakeup",
        "problem",
        "AccessDeniedException",
        lambda w: w.sql(
            "update minutehand.dispatcher set wakeup_failed = now(), wakeup_error = 'AccessDeniedException: no'"
        ),
    ),
    "all jobs paused": (
        "paused",
        "warning",
        ": an upgrade",
        lambda w: w.sql("insert into minutehand.controls (paused, reason) values (true, 'an upgrade')"),
    ),
    "a late job": (
        "late",
        "problem",
        "queue mail has a job that has been due for",
        lambda w: w.sql(
            "select minutehand.enqueue('echo', queue => 'mail');"
            "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '4 minutes'"
        ),
    ),
    "late jobs of many queues": (
        "late",
        "problem",
        "; 2 other queues too",
        lambda w: w.sql(
            "select minutehand.enqueue('echo', queue => 'queue-' || n) from generate_series(1, 7) n;"
            "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '4 minutes'"
        ),
    ),
    "a queue that no worker serves": (
        "late",
        "problem",
        "and no worker has taken its jobs for 5 minutes",
        lambda w: w.sql(
            "select minutehand.enqueue('echo', queue => 'mail');"
            "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '10 minutes'"
        ),
    ),
    "a dead job": (
        "dead",
        "warning",
        "1 job died",
        lambda w: w.sql("insert into minutehand.jobs (kind, deleted, failed) values ('echo', now(), true)"),
    ),
    "a schedule that cannot fire": (
        "schedules",
        "problem",
        "schedule report of tenant acme: unknown zone",
        lambda w: w.sql(
            "insert into minutehand.schedules (tenant, name, every, job, error)"
            " values ('acme', 'report', 'P1D', json_build_object('kind', 'echo'),"
            " jsonb_build_object('message', 'unknown zone'))"
        ),
    ),
    "an open batch": (
        "batches",
        "problem",
        "is open since 2026-01-01 00:00 UTC",
        lambda w: w.sql("insert into minutehand.batches (created) values ('2026-01-01 00:00 UTC')"),
    ),
    "a killed load": (
        "loads",
        "warning",
        "load campaign left a table of staged jobs at 2026-01-01 00:00 UTC",
        lambda w: w.sql(
            "insert into minutehand.load_runs (run, load, began)"
            " values (gen_random_uuid(), 'campaign', '2026-01-01 00:00 UTC')"
        ),
    ),
    "large payloads": (
        "max-payload",
        "warning",
        "8000000 bytes",
        lambda w: w.sql("update minutehand.settings set max_payload = 8000000"),
    ),
    "dead rows": ("dead-rows", "problem", "dead rows and", lambda w: leave_dead_rows(w)),
    "few connections": (
        "connections",
        "problem",
        "2 of 100 connections are free",
        lambda w: w.sql("alter role {} connection limit 3", w.login),
    ),
}


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
