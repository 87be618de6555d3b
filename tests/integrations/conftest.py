"""Callers of each library, and a way to run a scenario with any of them."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from minutehand.database.completing import complete
from minutehand.events import hooks
from minutehand.model.event import Event
from tests.event_loop import run_in_loop
from tests.integrations.callers import (
    Asyncpg,
    AsyncpgPool,
    AsyncPsycopg,
    Caller,
    Django,
    Psycopg,
    Psycopg2,
)
from tests.integrations.sqlalchemy_callers import (
    ScopedSession,
    SQLAlchemyAsyncConnection,
    SQLAlchemyAsyncPsycopg,
    SQLAlchemyAsyncSession,
    SQLAlchemyConnection,
    SQLAlchemyPsycopg2,
    SQLAlchemySession,
)
from tests.queue.stage import Queue
from tests.servers import Database

CALLERS = [
    Psycopg,
    AsyncPsycopg,
    Psycopg2,
    Asyncpg,
    AsyncpgPool,
    Django,
    SQLAlchemyConnection,
    SQLAlchemySession,
    SQLAlchemyPsycopg2,
    ScopedSession,
    SQLAlchemyAsyncConnection,
    SQLAlchemyAsyncSession,
    SQLAlchemyAsyncPsycopg,
]
Scenario = Callable[[Caller], Awaitable[Any]]


@pytest.fixture
def queue(database: Database) -> Iterator[Queue]:
    """A queue without jobs, to look at the database from another connection."""
    queue = Queue(database.url, database.admin_url)
    yield queue
    queue.close()


@pytest.fixture(params=CALLERS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> type[Caller]:
    """The library of the caller."""
    kind: type[Caller] = request.param
    return kind


@pytest.fixture
def run(kind: type[Caller], database: Database) -> Callable[[Scenario], Any]:
    """Run a scenario with a caller that has begun a transaction; return its result."""

    async def play(scenario: Scenario) -> Any:
        caller = kind(database.url)
        async with caller.resources:
            await caller.begin()
            return await scenario(caller)

    return lambda scenario: run_in_loop(play(scenario)) if kind.is_async else complete(play(scenario))


@pytest.fixture
def events() -> Iterator[list[Event]]:
    """The events that hooks receive."""
    received: list[Event] = []
    hooks.on("*", received.append)
    yield received
    hooks.off(received.append)


async def result(call: Any) -> Any:
    """Return the result of a call of the library, which only an async caller has to await."""
    return await call if inspect.isawaitable(call) else call


async def results(items: Any) -> list[Any]:
    """Return the items of an iterator or async iterator."""
    return [item async for item in items] if hasattr(items, "__aiter__") else list(items)
