"""Unawaited: notice coroutines that a handler creates and does not await, whose work was therefore not done.

Python reports them as a RuntimeWarning when they are deleted. This is usually at the end of the statement or of the
function, and in the context of the attempt, by whose variables the warning is assigned to it.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, Token
from threading import Lock
from typing import Any, TypeVar

from minutehand.errors import InvalidHandlerError

Argument = TypeVar("Argument")
Result = TypeVar("Result")

MESSAGE = re.compile(r"coroutine '(.*)' was never awaited")

_names: ContextVar[list[str] | None] = ContextVar("_names", default=None)
_prepared: ContextVar[bool] = ContextVar("_prepared", default=False)
_lock = Lock()
_watchers = 0
_warnings = warnings.catch_warnings()


def run(call: Callable[[Argument], Result], argument: Argument) -> Result:
    """Do what `refused` does for a function that is not async, in less time."""
    if not _prepared.get():
        with refused():
            return call(argument)
    names: list[str] = []
    token = _names.set(names)
    try:
        result = call(argument)
    finally:
        _names.reset(token)
    if names:
        raise _error(names)
    return result


def refused() -> AbstractContextManager[None]:
    """Raise InvalidHandlerError at the end of the block if a coroutine that was created in it was never awaited."""
    return _Refused()


class _Refused:
    def __init__(self) -> None:
        self._names: list[str] = []
        self._watching: AbstractContextManager[None] | None = None if _prepared.get() else watching()

    def __enter__(self) -> None:
        if self._watching is not None:
            self._watching.__enter__()
        self._token = _names.set(self._names)

    def __exit__(self, kind: type[BaseException] | None, *details: Any) -> None:
        _restore(self._token)
        if self._watching is not None:
            self._watching.__exit__(kind, *details)
        if self._names and kind is None:
            raise _error(self._names)


def _error(names: list[str]) -> InvalidHandlerError:
    return InvalidHandlerError(
        f"coroutine {' and '.join(dict.fromkeys(names))} was never awaited, so its work was not done; "
        "await it, in a handler that is defined with `async def`"
    )


def _restore(token: Token[list[str] | None]) -> None:
    try:
        _names.reset(token)
    except ValueError:
        # A coroutine that was abandoned is closed in another context.
        return


def watching() -> AbstractContextManager[None]:
    """Prepare for `refused`, once for many attempts. Warnings of other code are shown as before."""
    return nullcontext() if _prepared.get() else _watching()


@contextmanager
def _watching() -> Iterator[None]:
    _enter()
    token = _prepared.set(True)
    try:
        yield
    finally:
        with suppress(ValueError):
            _prepared.reset(token)
        _leave()


def _enter() -> None:
    global _watchers, _warnings
    with _lock:
        _watchers += 1
        if _watchers == 1:
            _warnings = warnings.catch_warnings()
            _warnings.__enter__()
            # By default, Python reports only the first one of each line.
            warnings.filterwarnings("always", MESSAGE.pattern, RuntimeWarning)
            warnings.showwarning = _recording(warnings.showwarning)


def _leave() -> None:
    global _watchers
    with _lock:
        _watchers -= 1
        if _watchers == 0:
            _warnings.__exit__(None, None, None)


def _recording(show: Callable[..., None]) -> Callable[..., None]:
    def record(message: Warning | str, *args: Any, **options: Any) -> None:
        names, match = _names.get(), MESSAGE.match(str(message))
        if names is None or match is None:
            show(message, *args, **options)
        else:
            names.append(match[1])

    return record
