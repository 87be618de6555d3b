"""A day is dropped whole, and only with the very rows that the lake has."""

from collections.abc import Iterator
from typing import Any

import pytest

from minutehand.database import Connection, connect
from tests.pipeline.history import fill_history
from tests.servers import Database

HOMES = ("jobs_done", "attempts", "events")
DAY = "2026-03-31"


@pytest.fixture
def connection(direct_database: Database) -> Iterator[Connection]:
    with connect(direct_database.url) as connection:
        fill_history(connection, 40)
        yield connection


def ask(connection: Connection, statement: str, *parameters: Any) -> Any:
    [(value,)] = connection.execute(statement, list(parameters)).fetchall()  # type: ignore[call-overload]
    return value


def archived(connection: Connection, home: str) -> None:
    """As an archive writes it: how many rows a day has, and which."""
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select %s, %s, rows, identity from minutehand.identities(%s, %s)"
        " on conflict (home, day) do update set rows = excluded.rows, identity = excluded.identity",
        [home, DAY, home, f"{home}_20260331"],
    )


def drop(connection: Connection, home: str) -> Any:
    return ask(connection, "select minutehand.drop_archived(%s, %s)", home, DAY)


@pytest.mark.parametrize("home", HOMES)
def test_a_day_of_which_the_archive_said_every_row_is_dropped(connection: Connection, home: str) -> None:
    archived(connection, home)

    assert drop(connection, home) == "dropped"
    assert ask(connection, f"select count(*) from minutehand.{home}") == 0
    assert drop(connection, home) == "none"


@pytest.mark.parametrize("home", HOMES)
def test_a_day_of_which_the_archive_said_nothing_is_held(connection: Connection, home: str) -> None:
    assert drop(connection, home) == "held"


def test_another_row_for_one_that_went_is_noticed_though_the_count_is_the_same(
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


def test_a_job_with_another_ack_is_another_row(connection: Connection) -> None:
    archived(connection, "jobs_done")
    connection.execute(
        "update minutehand.jobs set ack = null where id = (select min(id::text)::uuid from minutehand.jobs)"
    )

    assert drop(connection, "jobs_done") == "held"


def test_a_day_that_is_not_over_is_not_dropped(connection: Connection) -> None:
    today = ask(connection, "select (now() at time zone 'UTC')::date")

    assert ask(connection, "select minutehand.drop_archived('jobs_done', %s)", today) == "none"


def test_a_day_that_somebody_writes_to_is_busy_and_not_waited_for(
    connection: Connection, direct_database: Database
) -> None:
    archived(connection, "jobs_done")
    with connect(direct_database.url) as other, other.transaction():
        other.execute(f"insert into minutehand.jobs (kind, deleted) values ('late', '{DAY} 12:00+00')")

        assert drop(connection, "jobs_done") == "busy"


def test_retention_waits_for_the_archive_of_the_very_rows(connection: Connection) -> None:
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


def test_a_default_partition_is_exchanged_and_keeps_what_the_lake_has_not(connection: Connection) -> None:
    connection.execute(
        "insert into minutehand.jobs (kind, deleted)"
        " select 'a', '2020-02-29 12:00+00'::timestamptz + n * interval '1 second' from generate_series(1, 5) n"
    )
    connection.execute("insert into minutehand.jobs (kind, deleted) values ('b', '2020-03-01 00:00+00')")
    exchange = "select minutehand.exchange_default('jobs_done', '{2020-02-29}')"
    was = ask(connection, "select 'minutehand.jobs_done_default'::regclass::oid")

    assert ask(connection, exchange) == "held"
    connection.execute(
        "insert into minutehand.archived_days (home, day, rows, identity)"
        " select 'jobs_done', '2020-02-29', rows, identity"
        "   from minutehand.identities('jobs_done', 'jobs_done_default', '2020-02-29')"
    )
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
def test_an_exchanged_default_partition_is_guarded_as_the_old_one_was(
    connection: Connection, home: str
) -> None:
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
