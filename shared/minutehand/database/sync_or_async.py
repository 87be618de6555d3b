"""Sync or async: functions that are written once, as coroutines, and called with a connection of either sort.

With a sync connection they return their result, with an async one an awaitable of it. A coroutine of this kind may
call another one with its own executor, and awaits it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, closing
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from minutehand.database.callers import Open, resolve
from minutehand.database.completing import complete, iterate
from minutehand.database.database import Database
from minutehand.database.executor import BlockingExecutor, Executor

if TYPE_CHECKING:
    # Only type checkers need them, and creating protocols takes time at every cold start.
    from minutehand.database.call_types import SyncOrAsync, SyncOrAsyncIterator

P = ParamSpec("P")
Result = TypeVar("Result")


def sync_or_async(
    function: Callable[Concatenate[Executor, P], Coroutine[Any, Any, Result]],
) -> "SyncOrAsync[P, Result]":
    """Let a coroutine function take a connection of either sort instead of an executor."""

    @wraps(function)
    def call(database: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return executed(database, lambda executor: function(executor, *args, **kwargs))

    return cast("SyncOrAsync[P, Result]", call)


def sync_or_async_iterator(
    function: Callable[Concatenate[Executor, P], AsyncGenerator[Result, None]],
) -> "SyncOrAsyncIterator[P, Result]":
    """Let an async generator function take a connection of either sort instead of an executor."""

    @wraps(function)
    def call(database: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return iterated(database, lambda executor: function(executor, *args, **kwargs))

    return cast("SyncOrAsyncIterator[P, Result]", call)


def executed(connection: Any, work: Callable[[Executor], Coroutine[Any, Any, Result]]) -> Any:
    """Return the result of work on a sync connection, or a coroutine for it on an async one."""
    found = resolve(connection)
    if isinstance(found, Database):
        return complete(work(BlockingExecutor(found)))
    if isinstance(found, Executor):
        return work(found)
    return _executed(found, work)


def iterated(connection: Any, work: Callable[[Executor], AsyncGenerator[Result, None]]) -> Any:
    """Return an iterator over the items of work on a sync connection, or an async one on an async connection."""
    found = resolve(connection)
    if isinstance(found, Database):
        return iterate(work(BlockingExecutor(found)))
    if isinstance(found, Executor):
        return work(found)
    return _iterated(found, work)


def iterated_chunks(
    connection: Any, work: Callable[[Executor], AsyncGenerator[Iterable[Result], None]]
) -> Any:
    """Return an iterator over the items of chunks: switching to a coroutine for each item would take longer."""
    chunks = iterated(connection, work)
    return _items(chunks) if isinstance(chunks, Iterator) else _items_async(chunks)


def _items(chunks: Any) -> Iterator[Any]:
    with closing(chunks):
        for chunk in chunks:
            yield from chunk


async def _items_async(chunks: Any) -> AsyncGenerator[Any, None]:
    async with aclosing(chunks):
        async for chunk in chunks:
            for item in chunk:
                yield item


async def _executed(opened: Open, work: Callable[[Executor], Awaitable[Result]]) -> Result:
    return await work(await opened())


async def _iterated(
    opened: Open, work: Callable[[Executor], AsyncGenerator[Result, None]]
) -> AsyncGenerator[Result, None]:
    items = work(await opened())
    try:
        async for item in items:
            yield item
    finally:
        await items.aclose()
