"""A day is dropped as a whole, and only if the lake has exactly its rows."""

from typing import Any

import pytest

from minutehand.database import Connection, connect
from tests.pipeline.archive.stage import ask
from tests.servers import Database

HOMES = ("jobs_done", "attempts", "events")
DAY = "2026-03-31"


def archived(connection: Connection, home: str) -> None:
    """Record a day as an archive does."""
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select %s, %s, rows, identity from minutehand.identities(%s, %s)"
        " on conflict (home, day) do update"
        " set rows = excluded.rows, identity = excluded.identity, snapshot = excluded.snapshot",
        [home, DAY, home, f"{home}_20260331"],
    )


def archived_from_default(connection: Connection) -> None:
    """Record a day without a partition as an archive does."""
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select 'jobs_done', '2020-02-29', rows, identity"
        "   from minutehand.identities('jobs_done', 'jobs_done_default', '2020-02-29')"
    )


def drop(connection: Connection, home: str) -> Any:
    return ask(connection, "select minutehand.drop_archived(%s, %s)", home, DAY)


@pytest.mark.parametrize("home", HOMES)
def test_archived_day_is_dropped(connection: Connection, home: str) -> None:
    archived(connection, home)

    assert drop(connection, home) == "dropped"
    assert ask(connection, f"select count(*) from minutehand.{home}") == 0
    assert drop(connection, home) == "none"


@pytest.mark.parametrize("home", HOMES)
def test_unarchived_day_is_held(connection: Connection, home: str) -> None:
    assert drop(connection, home) == "held"


def test_replaced_row_holds_the_day(
    connection: Connection,
) -> None:
    archived(connection, "jobs_done")
    connection.execute(
        "delete from minutehand.jobs where id = (select min(id::text)::uuid from minutehand.jobs)"
    )
    connection.execute(
        f"insert into minutehand.jobs (kind, deleted) values ('late', '{DAY} 23:59:59.999999+00')"
    )

    assert drop(connection, "jobs_done") == "held"


def test_changed_ack_holds_the_day(connection: Connection) -> None:
    archived(connection, "jobs_done")
    connection.execute(
        "update minutehand.jobs set ack = null where id = (select min(id::text)::uuid from minutehand.jobs)"
    )

    assert drop(connection, "jobs_done") == "held"


def test_current_day_is_not_dropped(connection: Connection) -> None:
    today = ask(connection, "select (now() at time zone 'UTC')::date")

    assert ask(connection, "select minutehand.drop_archived('jobs_done', %s)", today) == "none"


def test_drop_does_not_wait_for_a_writer(connection: Connection, direct_database: Database) -> None:
    archived(connection, "jobs_done")
    with connect(direct_database.url) as other, other.transaction():
        other.execute(f"insert into minutehand.jobs (kind, deleted) values ('late', '{DAY} 12:00+00')")

        assert drop(connection, "jobs_done") == "busy"


def test_day_without_a_recorded_identity_is_held(connection: Connection) -> None:
    archived(connection, "jobs_done")
    connection.execute("update minutehand.archived_days set identity = null")

    assert drop(connection, "jobs_done") == "held"


def test_retention_waits_until_all_rows_are_archived(connection: Connection) -> None:
    connection.execute(
        "insert into minutehand.retention (what, keep) select w, '1 day' from unnest('{done,dead,cancelled}'::text[]) w"
    )
    connection.execute("update minutehand.settings set keep_until_archived = true")
    archived(connection, "jobs_done")
    connection.execute(
        "update minutehand.jobs set ack = null where id = (select min(id::text)::uuid from minutehand.jobs)"
    )

    held = connection.execute("select home, outcome from minutehand.retain()").fetchall()
    archived(connection, "jobs_done")
    connection.execute("delete from minutehand.kept_days")
    dropped = connection.execute("select home, outcome from minutehand.retain()").fetchall()

    assert (held, dropped) == ([("jobs_done", "held")], [("jobs_done", "dropped")])


def retained(connection: Connection) -> int:
    """Run retention three times, so that it checks, deletes and checks again; return the jobs left."""
    for _step in range(3):
        connection.execute("select * from minutehand.retain()")
    return int(ask(connection, "select count(*) from minutehand.jobs"))


def keep_a_day(connection: Connection, *whats: str) -> None:
    connection.execute("update minutehand.settings set keep_until_archived = true")
    for what in whats:
        connection.execute("insert into minutehand.retention (what, keep) values (%s, '1 day')", [what])


LATE = "insert into minutehand.jobs (kind, deleted) select 'late', '2026-03-31 12:00+00' from generate_series(1, 3)"


def test_partial_retention_keeps_unarchived_rows(connection: Connection) -> None:
    archived(connection, "jobs_done")
    connection.execute(LATE)
    keep_a_day(connection, "done")

    assert retained(connection) == 4 + 3  # of 40 four are dead or cancelled

    archived(connection, "jobs_done")
    connection.execute("update minutehand.kept_days set until = null")
    assert retained(connection) == 4


def test_retention_keeps_late_rows_without_partition(
    connection: Connection,
) -> None:
    archived(connection, "jobs_done")
    drop(connection, "jobs_done")
    connection.execute(LATE)
    keep_a_day(connection, "done", "dead", "cancelled")

    assert retained(connection) == 3

    connection.execute("update minutehand.archived_days set snapshot = pg_current_snapshot()")
    assert retained(connection) == 0


def test_row_visibility_compares_transaction_and_snapshot(connection: Connection) -> None:
    [(this,)] = connection.execute("select pg_current_xact_id()::text::bigint").fetchall()
    snapshot = f"{this - 5}:{this}:{this - 5},{this - 2}"

    def was_visible(inserted: int) -> Any:
        return ask(
            connection, "select minutehand.was_visible(%s::text::xid, %s::pg_snapshot)", inserted, snapshot
        )

    assert {this - inserted: was_visible(inserted) for inserted in range(this - 6, this + 1)} == {
        6: True,
        5: False,
        4: True,
        3: True,
        2: False,
        1: True,
        0: False,
    }
    assert was_visible(2)  # frozen by a version of Postgres that forgot its number


def test_exchanged_partition_keeps_unarchived_rows(connection: Connection) -> None:
    connection.execute(
        "insert into minutehand.jobs (kind, deleted)"
        " select 'a', '2020-02-29 12:00+00'::timestamptz + n * interval '1 second' from generate_series(1, 5) n"
    )
    connection.execute("insert into minutehand.jobs (kind, deleted) values ('b', '2020-03-01 00:00+00')")
    exchange = "select minutehand.exchange_default('jobs_done', '{2020-02-29}')"
    was = ask(connection, "select 'minutehand.jobs_done_default'::regclass::oid")

    assert ask(connection, exchange) == "held"
    archived_from_default(connection)
    assert ask(connection, exchange) == "dropped"

    assert connection.execute("select kind from minutehand.jobs_done_default").fetchall() == [("b",)]
    assert ask(connection, "select 'minutehand.jobs_done_default'::regclass::oid") != was
    assert ask(connection, "select to_regclass('minutehand.jobs_done_default_old')") is None
    assert ask(connection, exchange) == "none"
    connection.execute(
        "insert into minutehand.jobs (kind, deleted, personal, payload) values ('c', '2020-03-02', true, '1')"
    )
    assert (
        ask(connection, "select payload::text from minutehand.jobs_done_default where kind = 'c'") == "null"
    )


@pytest.mark.parametrize("home", HOMES)
def test_exchanged_partition_keeps_policies_and_grants(connection: Connection, home: str) -> None:
    facts = """select relrowsecurity,
                      (select array_agg(polname::text order by polname) from pg_policy where polrelid = c.oid),
                      has_table_privilege('minutehand_operator', c.oid, 'select'),
                      has_table_privilege('minutehand_tenant', c.oid, 'select'),
                      (select count(*) from pg_index where indrelid = c.oid),
                      (select array_agg(tgname::text order by tgname) from pg_trigger where tgrelid = c.oid)
                 from pg_class c where oid = %s::regclass"""
    was = connection.execute(facts, [f"minutehand.{home}_default"]).fetchall()
    if home == "jobs_done":
        connection.execute("insert into minutehand.jobs (kind, deleted) values ('a', '2020-02-29')")
    elif home == "attempts":
        connection.execute(
            "insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome)"
            " values (gen_random_uuid(), 1, '2020-02-29', '2020-02-29', 'q', 'k', 'done')"
        )
    else:
        connection.execute("insert into minutehand.events (at, name) values ('2020-02-29', 'done')")
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select %s, '2020-02-29', rows, identity from minutehand.identities(%s, %s, '2020-02-29')",
        [home, home, f"{home}_default"],
    )

    assert ask(connection, "select minutehand.exchange_default(%s, '{2020-02-29}')", home) == "dropped"
    assert connection.execute(facts, [f"minutehand.{home}_default"]).fetchall() == was
