"""Job: a claimed job as its handler sees it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from minutehand.attempts.claimed import Claim
from minutehand.database import AsyncConnection, Connection, Database
from minutehand.errors import LostError, MinutehandError
from minutehand.finish import complete
from minutehand.model.outcome import Finish
from minutehand.model.payload import is_encrypted


@dataclass(eq=False, kw_only=True)
class Job(Claim):
    """One attempt at a job, as its handler sees it.

    A handler may set `result`. It is stored when the attempt ends: also by `transaction()`, and also when the attempt
    fails, as the progress so far. `context` is what the handlers' context factory made for this attempt.
    """

    result: object = field(default=None, repr=False)
    context: Any = field(default=None, repr=False)
    # Set once `transaction()` has committed.
    finished: Finish | None = field(default=None, repr=False)
    # Functions of the job's chunk. The first one gets this job, and the name and the facts of an event; it is not bound
    # to each job, because few jobs need it. The other writes the outcomes of earlier attempts that wait.
    emit: Callable[..., None] | None = field(default=None, repr=False)
    write_group: Callable[[], None] | None = field(default=None, repr=False)

    @property
    def remaining(self) -> timedelta:
        """The time left for this attempt, never negative."""
        return self.lease.remaining

    @property
    def idempotency_key(self) -> str:
        """A text that is the same for every attempt, and changes when the job is replaced."""
        return f"{self.id}-{round(self.enqueued.timestamp() * 1_000_000):x}"

    @property
    def redelivered(self) -> bool:
        """Whether there was an earlier attempt."""
        return self.attempt > 1

    @property
    def previous_result(self) -> Any:
        """The result that an earlier attempt stored before it failed, or None.

        Raises KeyMissingError if it is encrypted with a key that this worker does not have.
        """
        if not is_encrypted(self.stored_result):
            return self.stored_result
        # Imported only when used, for the sake of cold starts.
        from minutehand.encryption.envelope import decrypted_result

        return decrypted_result(self.stored_result, self)

    @property
    def lateness(self) -> timedelta:
        """The time from `run_at` to the claim, by the database's clock."""
        return self.claimed - self.run_at

    def extend(self, by: timedelta) -> None:
        """Give the attempt until `by` from now, but not past the end of the Lambda invocation.

        Raises LostError if another worker has the job, or if the lease has ended while limits are set, and Cancel if
        its cancellation was requested.
        """
        self.lease.extend(by)
        if self.emit is not None:
            self.emit(self, "extended", by_ms=round(by.total_seconds() * 1000))

    def check(self) -> None:
        """Raise Cancel if the job's cancellation was requested, and LostError under the conditions of `extend`.

        Costs one query. Call it between the steps of long work; `extend` checks as well.
        """
        self.lease.check()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit what you write on this connection together with the job's completion, or roll both back.

        Only effects written here happen exactly once. Raises LostError, and rolls back, if the claim is lost. The job
        is done after the block: a result that is returned later is added to it if `result` was not set, and an
        exception is recorded without another attempt.
        """
        self._raise_if_finished()
        # So that they do not wait for locks of this transaction, and never become part of an outer one. Their errors do
        # not concern this job; the outcomes remain in the group.
        if self.write_group is not None and not self.database.in_transaction:
            with suppress(MinutehandError):
                self.write_group()
        with self.database.transaction(raw_errors=True) as connection:
            with self._restoring_result():
                yield connection
            finished = self._complete(self.database)
        self.finished = finished

    def _raise_if_finished(self) -> None:
        if self.finished is not None:
            raise LostError(
                f"job {self.id} was completed by an earlier transaction(); put all writes in one transaction()"
            )

    def _complete(self, database: Database) -> Finish:
        """Write `done` in the transaction that is open on a database."""
        finished = complete(replace(self, lease=replace(self.lease, database=database)), self.result)
        if finished.ending == "lost":
            raise LostError(
                f"lease lost: job {self.id} was claimed by another worker; the transaction was rolled back"
            )
        return finished

    @contextmanager
    def _restoring_result(self) -> Iterator[None]:
        """Restore the former result when the block fails: the new one describes work that is rolled back."""
        before = self.result
        try:
            yield
        except BaseException:
            self.result = before
            raise


class AsyncJob(Job):
    """One attempt at a job, as an async handler sees it: what uses the database is awaited."""

    @classmethod
    def of(cls, job: Job) -> "AsyncJob":
        """Return the same attempt for an async handler."""
        made = cls.__new__(cls)
        vars(made).update(vars(job))
        return made

    # Unlike those of Job, these are awaited.
    async def extend(self, by: timedelta) -> None:  # type: ignore[override]
        """Extend the attempt, like `Job.extend`."""
        await _in_database_thread(super().extend, by)

    async def check(self) -> None:  # type: ignore[override]
        """Check the claim, like `Job.check`."""
        await _in_database_thread(super().check)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:  # type: ignore[override]
        """Commit what you write on this connection together with the job's completion, like `Job.transaction`.

        It is a second connection of the worker, which the handlers of a worker use in turn: keep the block short.
        """
        # Imported only when used, for the sake of cold starts.
        from minutehand.database.in_loop import transaction

        self._raise_if_finished()
        async with transaction(self.database) as opened:
            with self._restoring_result():
                yield opened.connection
            await opened.commit(lambda: self._complete(opened.database), self._set_finished)

    def _set_finished(self, finished: Finish) -> None:
        self.finished = finished


async def _in_database_thread(call: Callable[..., None], *args: Any) -> None:
    # Imported only when used, for the sake of cold starts.
    from minutehand.database.in_loop import in_database_thread

    await in_database_thread(call, *args)
