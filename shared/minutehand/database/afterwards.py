"""What is done once a transaction of the library's own is committed, and not at all if it rolls back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from minutehand.database.opening import Connection

# By connection, since whoever borrows it meanwhile is in the same transaction.
_calls: "WeakKeyDictionary[Connection, list[Callable[[], None]]]" = WeakKeyDictionary()


@contextmanager
def settling(connection: Connection, *, outermost: bool) -> Iterator[None]:
    """Do what was put off in this block, once it is left well; a savepoint that fails forgets its own part."""
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


def put_off(connection: Connection, call: Callable[[], None]) -> bool:
    """Have something done after the commit; False if the transaction is not ours, and its end not seen."""
    calls = _calls.get(connection)
    if calls is None:
        return False
    calls.append(call)
    return True
