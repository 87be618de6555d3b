"""After commit: calls that run once a transaction has committed, and never if it rolls back."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

# Coroutine functions, which also run without an event loop: see minutehand.database.executor.
Call = Callable[[], Coroutine[Any, Any, None]]
# Registers a call with the library of a caller, which runs it after the caller's commit.
OnCommit = Callable[[Call], None]

# By the id of a connection, since others that borrow it are in the same transaction.
_calls: dict[int, list[Call]] = {}


@contextmanager
def collected(connection: Any, *, in_transaction: bool, on_commit: OnCommit | None) -> Iterator[list[Call]]:
    """Collect the calls that are registered in this block, and yield the list of those to run after it.

    The list is filled when the block of the outermost transaction succeeds. A failed savepoint drops its own calls. In
    the caller's transaction, the calls are passed to `on_commit` instead.
    """
    ready: list[Call] = []
    outermost = id(connection) not in _calls and (on_commit is not None or not in_transaction)
    if outermost:
        _calls[id(connection)] = []
    calls = _calls.get(id(connection))
    before = len(calls or ())
    try:
        yield ready
    except BaseException:
        if calls is not None:
            del calls[before:]
        raise
    finally:
        if outermost:
            del _calls[id(connection)]
    if outermost and calls:
        _hand_over(calls, ready, on_commit if in_transaction else None)


def _hand_over(calls: list[Call], ready: list[Call], on_commit: OnCommit | None) -> None:
    if on_commit is None:
        ready += calls
        return
    for call in calls:
        on_commit(call)


def after_commit(connection: Any, call: Call, on_commit: OnCommit | None) -> bool:
    """Register a call; return False if the transaction is the caller's and its commit is not visible here."""
    calls = _calls.get(id(connection))
    if calls is not None:
        calls.append(call)
    elif on_commit is not None:
        on_commit(call)
    return calls is not None or on_commit is not None
