"""Results: what a handler returned, unless that is work that has not run."""

import inspect
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from minutehand.errors import InvalidHandlerError

# Iterators whose functions run when they are read.
LAZY = (GeneratorType, AsyncGeneratorType, map, filter)
# Types of most results, which need no further check.
PLAIN = frozenset({type(None), bool, int, float, str, list, dict})


def finished_result(result: Any) -> Any:
    """Return a handler's result; raise InvalidHandlerError if it is work that has not run."""
    if type(result) in PLAIN and not (type(result) is list and CoroutineType in map(type, result)):
        return result
    if type(result) is list:
        for coroutine in filter(inspect.iscoroutine, result):
            coroutine.close()
        raise InvalidHandlerError(
            "the handler returned a list of coroutines that are not awaited, so their work was not done; "
            "await them, for example with asyncio.gather"
        )
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise InvalidHandlerError(
            f"the handler returned a {type(result).__name__} that is not awaited, so its work was not done; "
            "define it with `async def` and await the call"
        )
    if isinstance(result, LAZY):
        raise InvalidHandlerError(
            f"the handler returned a {type(result).__name__}, so its work was not done; "
            "run it, and return a value such as a list"
        )
    return result
