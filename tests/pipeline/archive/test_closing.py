"""A day is closed by what can still commit, not by the clock."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from threading import Thread
from typing import Any

import pytest

from minutehand.database import Connection, Database, connect
from minutehand_pipeline.archive.close import Closing, days_over
from minutehand_pipeline.schemas import HOMES
from tests import servers
from tests.conftest import NewDatabase

NOW = timedelta(0)


@pytest.fixture
def database(direct_database: servers.Database) -> Iterator[Database]:
    database = Database(direct_database.url)
    yield database
    database.close()


@pytest.fixture
def writer(direct_database: servers.Database) -> Iterator[Connection]:
    with connect(direct_database.url) as connection:
        yield connection


def just_now(database: Database) -> datetime:
    """A moment that is over: every transaction that is open began before it."""
    [(moment,)] = database.connection.execute("select clock_timestamp()").fetchall()
    assert isinstance(moment, datetime)
    return moment


def test_a_day_in_which_a_transaction_began_that_is_not_over_is_open(
    database: Database, writer: Connection
) -> None:
    with writer.transaction():
        writer.execute("select 1")
        ends = just_now(database)

        assert "in a transaction since" in (Closing(database, NOW).holder(ends) or "")

    assert Closing(database, NOW).holder(ends) is None


def test_a_transaction_that_began_after_a_day_keeps_it_open_for_nobody(
    database: Database, writer: Connection
) -> None:
    ends = just_now(database)
    with writer.transaction():
        writer.execute("select pg_current_xact_id()")

        assert Closing(database, NOW).holder(ends) is None


def test_whoever_waits_goes_on_when_the_transaction_is_over(database: Database, writer: Connection) -> None:
    with writer.transaction():
        writer.execute("select 1")
        ends = just_now(database)
        closing, found = Closing(database, timedelta(minutes=1)), list[Any]()
        thread = Thread(target=lambda: found.append(closing.holder(ends)))
        thread.start()
    thread.join(60)

    assert found == [None]


def test_a_role_that_sees_no_others_waits_for_all_that_were_there(
    new_database: NewDatabase, request: pytest.FixtureRequest
) -> None:
    """It sees no other's transaction, only that one which was there at its mark has not ended."""
    made = new_database("direct-16")
    with connect(made.url) as owner, connect(made.url) as hidden, connect(made.url) as writer:
        [(role,)] = owner.execute("select 'sees_' || md5(random()::text)").fetchall()
        owner.execute(f"create role {role} nologin in role minutehand_operator")
        try:
            hidden.execute(f"set role {role}")
            with writer.transaction():
                writer.execute("select pg_current_xact_id()")
                closing = Closing(Database.borrow(hidden), NOW)
                ends = datetime(2026, 3, 31, tzinfo=UTC)

                assert closing.holder(ends) == "a transaction that was there when the archive began"
            assert closing.holder(ends) is None
        finally:
            hidden.execute("reset role")
            owner.execute(f"drop role {role}")


def test_only_days_that_are_over_are_anybodys_business(database: Database) -> None:
    database.connection.execute("select minutehand.make_days(2, (now() at time zone 'UTC')::date - 1)")
    [(today,)] = database.connection.execute("select (now() at time zone 'UTC')::date").fetchall()

    for home in HOMES.values():
        assert [each.day for each in days_over(database, home, None, None)] == [today - timedelta(days=1)]


def test_rows_whose_day_has_no_partition_have_a_day_all_the_same(database: Database) -> None:
    database.connection.execute(
        "insert into minutehand.jobs (kind, deleted)"
        " values ('a', '2020-02-29 12:00+00'), ('a', '2020-02-29 23:59:59+00')"
    )

    [day] = days_over(database, HOMES["jobs_done"], None, None)

    assert (day.day, day.partitioned) == (date(2020, 2, 29), False)
    assert days_over(database, HOMES["events"], None, None) == []
