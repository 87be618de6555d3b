"""A statement that ran often is prepared at once in the next period, but not after a pause."""

from collections.abc import Iterator

import pytest
from wire import Wire

from minutehand import Database, enqueue
from minutehand.database import preparing
from minutehand.database.preparing import FRESH_SECONDS, USES
from tests import servers
from tests.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(1_000_000.0)
    monkeypatch.setattr(preparing, "time", clock)
    return clock


@pytest.fixture
def wire(direct_database: servers.Database) -> Iterator[Wire]:
    with Wire(direct_database.url) as wire:
        yield wire


@pytest.fixture
def db(wire: Wire, clock: Clock) -> Iterator[Database]:
    database = Database(wire.url)
    for _ in range(3 * USES):
        enqueue("echo", connection=database)
    assert prepared(wire) == 1
    yield database
    database.close()


def prepared(wire: Wire) -> int:
    return sum(bool(each.name) for each in wire.statements)


def test_frequent_statement_is_prepared_at_once_in_the_next_period(
    db: Database, wire: Wire, clock: Clock
) -> None:
    clock.now += FRESH_SECONDS
    enqueue("echo", connection=db)

    assert prepared(wire) == 2


def test_statement_that_is_no_longer_frequent_is_not_prepared(db: Database, wire: Wire, clock: Clock) -> None:
    for _ in range(2):
        clock.now += FRESH_SECONDS
        enqueue("echo", connection=db)

    assert prepared(wire) == 2


def test_frequent_statement_is_not_prepared_at_once_after_a_pause(
    db: Database, wire: Wire, clock: Clock
) -> None:
    clock.now += 2 * FRESH_SECONDS
    enqueue("echo", connection=db)

    assert prepared(wire) == 1
