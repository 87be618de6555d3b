"""Type checkers know that the connection decides between a result and an awaitable."""

from pathlib import Path

import pytest

from tests.kinds.test_typing import lines_with_errors

SAMPLE = """
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, assert_type
from uuid import UUID

import psycopg
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

from minutehand import AsyncDatabase, Database, Enqueued, NewJob, Rejected, enqueue, enqueue_many, job, wait
from minutehand.model.row import Row
from minutehand.operations.change import Change
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import get

Item = Enqueued | Rejected


@job
def welcome(email: str) -> int:
    return 1


def sync(
    p: psycopg.Connection[Any], s: Session, c: Connection, f: scoped_session[Session], d: Database, i: UUID
) -> None:
    assert_type(enqueue("a"), Enqueued)
    assert_type(enqueue("a", connection=p), Enqueued)
    assert_type(enqueue("a", connection=s, priority=1), Enqueued)
    assert_type(enqueue("a", connection=c), Enqueued)
    assert_type(enqueue("a", connection=f), Enqueued)
    assert_type(enqueue_many([NewJob("a")], connection=d), Iterator[Item])
    assert_type(wait(i, connection=d), Row)
    assert_type(get(s, i), Row)
    assert_type(cancel(d, [i], "no"), list[Change])
    enqueue("a", connection="postgresql://")  # wrong
    enqueue("a", connection=s, priority="1")  # wrong
    get(d)  # wrong


async def run(
    p: psycopg.AsyncConnection[Any],
    s: AsyncSession,
    c: AsyncConnection,
    f: async_scoped_session[AsyncSession],
    d: AsyncDatabase,
    i: UUID,
) -> None:
    assert_type(await enqueue("a", connection=p), Enqueued)
    assert_type(await enqueue("a", connection=s, priority=1), Enqueued)
    assert_type(await enqueue("a", connection=c), Enqueued)
    assert_type(await enqueue("a", connection=f), Enqueued)
    assert_type(enqueue_many([NewJob("a")], connection=d), AsyncIterator[Item])
    assert_type(await wait(i, connection=d), Row)
    assert_type(await get(s, i), Row)
    assert_type(await cancel(d, [i], "no"), list[Change])
    assert_type(await welcome.options(connection=s).enqueue(email="a"), Enqueued[int])
    enqueue("a", connection=s).id  # wrong
    await enqueue("a")  # wrong
"""
WRONG = {number for number, line in enumerate(SAMPLE.splitlines(), 1) if line.endswith("# wrong")}


@pytest.mark.programs
def test_mypy_knows_what_has_to_be_awaited(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)

    assert lines_with_errors("mypy", "--strict", "--no-error-summary", str(path)) == WRONG
