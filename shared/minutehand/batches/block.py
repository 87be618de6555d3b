"""The block of a batch: a transaction that opens it, enqueues its jobs and closes it."""

from collections.abc import Coroutine, Iterable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, Unpack, cast, overload
from uuid import UUID

from minutehand.batches.lifecycle import Callback, close_batch, open_batch
from minutehand.database import (
    AsyncConnectable,
    Connectable,
    Database,
    Executor,
    executed,
    resolve,
)
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.job_options import JobOptions
from minutehand.model.new_job import NewJob


class Batch:
    """An open batch. `id` is what jobs have as their option `batch`, and `tenant` theirs unless they have another."""

    id: UUID

    def __init__(self, database: Database, options: dict[str, Any]) -> None:
        """Remember the options; the block opens the batch."""
        self._database, self._options = database, options
        self.tenant: str | None = options["tenant"]
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Begin a transaction, or a savepoint, and open the batch in it."""
        with ExitStack() as stack:
            stack.enter_context(self._database.transaction())
            self.id = open_batch(self._database, **self._options)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the batch and commit; after an error, roll back."""
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            close_batch(self._database, self.id)

    def enqueue(self, kind: str, payload: object = None, **options: Unpack[JobOptions]) -> Enqueued:
        """Enqueue a job of this batch in its transaction; see `minutehand.enqueue`."""
        return enqueue(kind, payload, connection=self._database, **_in_batch(self, options))

    def batch(
        self,
        *,
        on_complete: Callback | None = None,
        on_failure: Callback | None = None,
        name: str | None = None,
        tenant: str | None = None,
    ) -> "Batch":
        """Nest a batch in this one, in its transaction; see `minutehand.batch`."""
        callbacks = {"on_complete": on_complete, "on_failure": on_failure}
        options = {**callbacks, "name": name, "tenant": tenant or self.tenant, "parent": self.id}
        return Batch(self._database, options)

    def enqueue_many(self, jobs: Iterable[NewJob]) -> int:
        """Enqueue jobs of this batch, and return their number; raise the error of the first one that is rejected."""
        given = (replace(job, batch=self.id, tenant=job.tenant or self.tenant) for job in jobs)
        return sum(map(_accepted, enqueue_many(given, connection=self._database)))


class AsyncBatch:
    """An open batch on an async connection; see Batch."""

    id: UUID

    def __init__(self, connection: AsyncConnectable, options: dict[str, Any]) -> None:
        """Remember the options; the block opens the batch."""
        self._connection, self._options = connection, options
        self.tenant: str | None = options["tenant"]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Begin a transaction, or a savepoint, and open the batch in it."""
        # A pool gives one connection to all calls of the block.
        self._executor = await cast("Coroutine[Any, Any, Executor]", executed(self._connection, _same))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._executor.transaction())
            self.id = await open_batch(self._executor, **self._options)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the batch and commit; after an error, roll back."""
        if kind is not None:
            await self._stack.__aexit__(kind, error, trace)
            return
        async with self._stack:
            await close_batch(self._executor, self.id)

    async def enqueue(self, kind: str, payload: object = None, **options: Unpack[JobOptions]) -> Enqueued:
        """Enqueue a job of this batch in its transaction; see `minutehand.enqueue`."""
        return await enqueue(kind, payload, connection=self._executor, **_in_batch(self, options))

    def batch(
        self,
        *,
        on_complete: Callback | None = None,
        on_failure: Callback | None = None,
        name: str | None = None,
        tenant: str | None = None,
    ) -> "AsyncBatch":
        """Nest a batch in this one, in its transaction; see `minutehand.batch`."""
        callbacks = {"on_complete": on_complete, "on_failure": on_failure}
        options = {**callbacks, "name": name, "tenant": tenant or self.tenant, "parent": self.id}
        return AsyncBatch(self._executor, options)

    async def enqueue_many(self, jobs: Iterable[NewJob]) -> int:
        """Enqueue jobs of this batch, and return their number; raise the error of the first one that is rejected."""
        given = (replace(job, batch=self.id, tenant=job.tenant or self.tenant) for job in jobs)
        return sum([_accepted(each) async for each in enqueue_many(given, connection=self._executor)])


@overload
def batch(
    *,
    on_complete: Callback | None = None,
    on_failure: Callback | None = None,
    name: str | None = None,
    tenant: str | None = None,
    parent: UUID | None = None,
    connection: AsyncConnectable,
) -> AsyncBatch: ...
@overload
def batch(
    *,
    on_complete: Callback | None = None,
    on_failure: Callback | None = None,
    name: str | None = None,
    tenant: str | None = None,
    parent: UUID | None = None,
    connection: Connectable | None = None,
) -> Batch: ...
def batch(
    *,
    on_complete: Callback | None = None,
    on_failure: Callback | None = None,
    name: str | None = None,
    tenant: str | None = None,
    parent: UUID | None = None,
    connection: Connectable | AsyncConnectable | None = None,
) -> Batch | AsyncBatch:
    """Open a batch for the block of a `with` statement: the jobs that are enqueued with `b.enqueue` belong together.

    The block is one transaction, or a savepoint of yours: its jobs start after the commit, and an error enqueues none
    of them. When the last job of the batch has ended, `on_complete` is enqueued in the same transaction; if one of the
    jobs is dead, expired or cancelled and `on_failure` is given, that is enqueued instead. Both are a kind or a job
    without time, key and recurrence; the payload gets the field `batch`, with the id, the name and the counts. A batch
    without jobs ends at once. Jobs have the `tenant` of the batch by default. With a `parent`, it counts as one job of
    that batch, as does its callback. With an async connection, use `async with`, and await its methods.
    """
    options = {
        "on_complete": on_complete,
        "on_failure": on_failure,
        "name": name,
        "tenant": tenant,
        "parent": parent,
    }
    found = resolve(connection)
    return (
        Batch(found, options) if isinstance(found, Database) else AsyncBatch(cast(Any, connection), options)
    )


def _in_batch(to: Batch | AsyncBatch, options: JobOptions) -> JobOptions:
    return {**options, "batch": to.id, "tenant": options.get("tenant") or to.tenant}


async def _same(executor: Executor) -> Executor:
    return executor


def _accepted(result: Enqueued | Rejected) -> bool:
    if isinstance(result, Rejected):
        raise result.error
    return True
