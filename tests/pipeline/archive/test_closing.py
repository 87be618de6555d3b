"""A day is closed when no transaction can commit rows to it."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from threading import Thread
from typing import Any

import pytest

from minutehand.database import Connection, Database, connect
from minutehand_pipeline.archive.closing import Closing, Day, list_days
from minutehand_pipeline.archive.decision import Action, decide
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
    """The current time of the database, after the start of every open transaction."""
    [(moment,)] = database.connection.execute("select clock_timestamp()").fetchall()
    assert isinstance(moment, datetime)
    return moment


def test_day_is_open_while_an_older_transaction_runs(database: Database, writer: Connection) -> None:
    with writer.transaction():
        writer.execute("select 1")
        ends = just_now(database)

        assert "in a transaction since" in (Closing(database, NOW).wait_for_holder(ends) or "")

    assert Closing(database, NOW).wait_for_holder(ends) is None


def test_day_without_rows_is_not_empty_before_it_is_closed(database: Database, writer: Connection) -> None:
    with writer.transaction():
        writer.execute("select 1")
        day = Day(HOMES["jobs_done"], date(2020, 2, 29), just_now(database), False, None, None)

        assert decide(database, Closing(database, NOW), day).action is Action.WAIT

    assert decide(database, Closing(database, NOW), day).action is Action.RECORD_EMPTY


def test_later_transaction_does_not_keep_a_day_open(database: Database, writer: Connection) -> None:
    ends = just_now(database)
    with writer.transaction():
        writer.execute("select pg_current_xact_id()")

        assert Closing(database, NOW).wait_for_holder(ends) is None


def test_wait_ends_with_the_transaction(database: Database, writer: Connection) -> None:
    with writer.transaction():
        writer.execute("select 1")
        ends = just_now(database)
        closing, found = Closing(database, timedelta(minutes=1)), list[Any]()
        thread = Thread(target=lambda: found.append(closing.wait_for_holder(ends)))
        thread.start()
    thread.join(60)

    assert found == [None]


def test_restricted_role_waits_for_all_open_transactions(
    new_database: NewDatabase, request: pytest.FixtureRequest
) -> None:
    """The role only sees that a transaction which was open at the mark has not ended."""
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

                assert closing.wait_for_holder(ends) == "a transaction that was there when the archive began"
            assert closing.wait_for_holder(ends) is None
        finally:
            hidden.execute("reset role")
            owner.execute(f"drop role {role}")


def test_prepared_transaction_keeps_a_day_open(servers: servers.Servers) -> None:
    address = servers.migrated("prepared", settings={"max_prepared_transactions": "1"})
    made = address.make()
    with connect(made.admin_url) as owner:
        owner.execute("begin; select pg_current_xact_id(); prepare transaction 'forgotten'")
        try:
            database = Database.borrow(owner)
            found = Closing(database, NOW).wait_for_holder(just_now(database))
        finally:
            owner.execute("rollback prepared 'forgotten'")
    address.drop(made)

    assert found == "a prepared transaction, forgotten"


def test_only_finished_days_are_listed(database: Database) -> None:
    database.connection.execute("select minutehand.make_days(2, (now() at time zone 'UTC')::date - 1)")
    [(today,)] = database.connection.execute("select (now() at time zone 'UTC')::date").fetchall()

    for home in HOMES.values():
        assert [each.day for each in list_days(database, home, None, None)] == [today - timedelta(days=1)]


def test_day_without_partition_is_listed(database: Database) -> None:
    database.connection.execute(
        "insert into minutehand.jobs (kind, deleted)"
        " values ('a', '2020-02-29 12:00+00'), ('a', '2020-02-29 23:59:59+00')"
    )

    [day] = list_days(database, HOMES["jobs_done"], None, None)

    assert (day.day, day.partitioned) == (date(2020, 2, 29), False)
    assert list_days(database, HOMES["events"], None, None) == []
