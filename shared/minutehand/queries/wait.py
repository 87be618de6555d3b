"""Wait until a job is finished, by polling with growing pauses."""

from collections.abc import Coroutine
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, overload
from uuid import UUID

from minutehand.database import AsyncConnectable, Connectable, Executor, executed
from minutehand.errors import InvalidJobError, UnfinishedError
from minutehand.model.payload import is_encrypted
from minutehand.model.row import FINISHED, Row
from minutehand.model.rules import sentence
from minutehand.queries.jobs import get

# In seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
GROWTH = 1.5
DEFAULT_TIMEOUT = timedelta(seconds=30)


def decrypted(row: Row) -> Row:
    """Return a finished job with its result decrypted, if this process has the key."""
    if not is_encrypted(row.result):
        return row
    # Imported here, so that a process without encryption does not load the cryptography.
    from minutehand.encryption.envelope import decrypted_result

    return replace(row, result=decrypted_result(row.result, row))


if TYPE_CHECKING:

    @overload
    def wait(
        job_id: UUID, timeout: timedelta = DEFAULT_TIMEOUT, *, connection: AsyncConnectable
    ) -> Coroutine[Any, Any, Row]: ...

    @overload
    def wait(
        job_id: UUID, timeout: timedelta = DEFAULT_TIMEOUT, *, connection: Connectable | None = None
    ) -> Row: ...


def wait(
    job_id: UUID,
    timeout: timedelta = DEFAULT_TIMEOUT,
    *,
    connection: Connectable | AsyncConnectable | None = None,
) -> Row | Coroutine[Any, Any, Row]:
    """Return a job once it is finished (done, dead, expired or cancelled), with its result.

    With an async connection this returns an awaitable. Raises UnfinishedError after the timeout, and NotFoundError if
    the job does not exist. Each poll is a short statement, so a pooler's connection is free in between. A connection of
    yours must be in autocommit: a transaction would hold its locks, and the jobs it enqueued would not run before its
    commit.
    """

    async def finished(executor: Executor) -> Row:
        row = await _wait(executor, job_id, timeout)
        return await executor.block(lambda: decrypted(row)) if is_encrypted(row.result) else row

    result: Row | Coroutine[Any, Any, Row] = executed(connection, finished)
    return result


def wait_encrypted(job_id: UUID, timeout: timedelta, *, connection: Connectable | None = None) -> Row:
    """Do what `wait` does, but return an encrypted result as it is stored; this needs no key."""
    row: Row = executed(connection, lambda executor: _wait(executor, job_id, timeout))
    return row


async def _wait(executor: Executor, job_id: UUID, timeout: timedelta) -> Row:
    _check(job_id, timeout)
    if executor.in_transaction or not executor.autocommit:
        raise InvalidJobError("wait_is_alone", sentence("wait_is_alone"))
    deadline, pause = monotonic() + timeout.total_seconds(), FIRST_PAUSE
    while True:
        unfinished = await executor.run("get_unfinished", id=job_id)
        # A job may come back between the two statements.
        if not unfinished and (row := await get(executor, job_id)).state in FINISHED:
            return row
        if (left := deadline - monotonic()) <= 0:
            raise UnfinishedError(job_id, unfinished[0]["state"] if unfinished else row.state, timeout)
        await executor.pause(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)


def _check(job_id: object, timeout: object) -> None:
    try:
        UUID(str(job_id))
    except ValueError:
        raise InvalidJobError(
            "job_is_an_id",
            f"job must be what an enqueue returned, or the id of a job, a UUID, got {job_id!r}",
        ) from None
    if not isinstance(timeout, timedelta):
        raise InvalidJobError(
            "timeout_is_a_duration", f"timeout must be a timedelta, got {type(timeout).__name__}"
        )
