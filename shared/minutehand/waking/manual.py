"""Manually: wake workers after a commit that minutehand cannot see."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, overload

from minutehand import waking
from minutehand.database import AsyncConnectable, Connectable, executed
from minutehand.model.enqueued import Enqueued

if TYPE_CHECKING:

    @overload
    def wake(*jobs: Enqueued, connection: AsyncConnectable) -> Coroutine[Any, Any, None]: ...

    @overload
    def wake(*jobs: Enqueued, connection: Connectable | None = None) -> None: ...


def wake(
    *jobs: Enqueued, connection: Connectable | AsyncConnectable | None = None
) -> Coroutine[Any, Any, None] | None:
    """Start jobs that were committed on a connection whose commits minutehand cannot see.

    Without jobs, such as after SQL that enqueued some, this invokes the dispatcher, unless it waits already or was
    invoked in the last second. In the mode `minute` it does nothing. With an async connection it returns an awaitable.
    """
    result: Coroutine[Any, Any, None] | None = executed(
        connection, lambda executor: waking.wake_committed(executor, jobs)
    )
    return result
