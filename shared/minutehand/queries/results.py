"""Results: wait until a job is finished, and return its result as the type that its function declares."""

from collections.abc import Awaitable, Coroutine
from datetime import timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from uuid import UUID

from minutehand.calling.conversion import convert
from minutehand.database import AsyncConnectable, Connectable
from minutehand.errors import MismatchError, UnsuccessfulError
from minutehand.model.enqueued import Enqueued
from minutehand.model.row import Row
from minutehand.queries.wait import DEFAULT_TIMEOUT
from minutehand.queries.wait import wait as wait_for_row

Result = TypeVar("Result")


if TYPE_CHECKING:

    @overload
    def wait(
        job: UUID, timeout: timedelta = DEFAULT_TIMEOUT, *, connection: AsyncConnectable
    ) -> Coroutine[Any, Any, Row]: ...

    @overload
    def wait(
        job: UUID, timeout: timedelta = DEFAULT_TIMEOUT, *, connection: Connectable | None = None
    ) -> Row: ...

    @overload
    def wait(
        job: Enqueued[Result], timeout: timedelta = DEFAULT_TIMEOUT, *, connection: AsyncConnectable
    ) -> Coroutine[Any, Any, Result]: ...

    @overload
    def wait(
        job: Enqueued[Result], timeout: timedelta = DEFAULT_TIMEOUT, *, connection: Connectable | None = None
    ) -> Result: ...


def wait(
    job: UUID | Enqueued[Any],
    timeout: timedelta = DEFAULT_TIMEOUT,
    *,
    connection: Connectable | AsyncConnectable | None = None,
) -> Any:
    """Wait until a job is finished: return the Row of an id, and the result of what an enqueue returned.

    The result has the return type of a decorated function. If the job did not succeed, UnsuccessfulError is raised
    instead; a row has its state and error. Raises UnfinishedError after the timeout, and NotFoundError if the job does
    not exist. Each poll is a short statement, so a pooler's connection is free in between. A connection of yours must
    be in autocommit: a transaction would hold its locks, and the jobs it enqueued would not run before its commit.
    With an async connection this returns an awaitable.
    """
    job_id = job.id if isinstance(job, Enqueued) else job
    row: Any = wait_for_row(job_id, timeout, connection=cast(Any, connection))
    if not isinstance(job, Enqueued):
        return row
    return _result(row, job.result_type) if isinstance(row, Row) else _await_result(row, job.result_type)


async def _await_result(row: Awaitable[Row], result_type: Any) -> Any:
    return _result(await row, result_type)


def _result(row: Row, result_type: Any) -> Any:
    if row.state != "done":
        raise UnsuccessfulError(row.id, row.state, row.error)
    if row.stage == "result":
        raise MismatchError(
            f"job {row.id} is done, but its result was not stored: {(row.error or {})['message']}"
        )
    return None if result_type is NoneType else convert(row.result, result_type)
