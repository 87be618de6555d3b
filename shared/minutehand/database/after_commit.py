"""After commit: calls that run once a transaction of the library has committed, and never if it rolls back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from minutehand.database.opening import Connection

# By connection, since a Database that borrows it is in the same transaction.
_calls: "WeakKeyDictionary[Connection, list[Callable[[], None]]]" = WeakKeyDictionary()


@contextmanager
def run_after_commit(connection: Connection, *, outermost: bool) -> Iterator[None]:
    """Run the calls that were registered in this block after it succeeds. A failed savepoint drops its own calls."""
    if outermost:
        _calls[connection] = []
    calls = _calls.get(connection)
    before = len(calls or ())
    try:
        yield
    except BaseException:
        if calls is not None:
            del calls[before:]
        raise
    finally:
        if outermost:
            _calls.pop(connection, None)
    for call in calls or () if outermost else ():
        call()


def after_commit(connection: Connection, call: Callable[[], None]) -> bool:
    """Register a call; return False if the transaction is the caller's, whose commit is not visible here."""
    calls = _calls.get(connection)
    if calls is None:
        return False
    calls.append(call)
    return True
