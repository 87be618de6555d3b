"""Run coroutines without an event loop, if they never suspend."""

from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")


def complete(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    coroutine.close()
    raise AssertionError("a coroutine on a sync connection must not suspend")


def iterate(items: AsyncGenerator[Result, None]) -> Iterator[Result]:
    """Yield what an async generator yields, and close it at the end."""
    try:
        while True:
            try:
                yield complete(anext(items))
            except StopAsyncIteration:
                return
    finally:
        complete(items.aclose())
