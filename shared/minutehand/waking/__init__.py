"""Waking: what an enqueue does so that its jobs start in time, in the modes that need it.

    minute   nothing: the next tick finds the jobs; the command line warns if there is none, see waking.unrequested
    prompt   after the commit, jobs that are due are offered and their workers invoked; see minutehand.waking.prompt
    sleep    before the commit, it requests the tick that will find them; see minutehand.waking.sleep

A mode is a subclass of Wake. No job depends on it: a later tick finds every job that a mode missed.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from weakref import WeakValueDictionary

from minutehand.database import Executor, Record
from minutehand.model.enqueued import Enqueued
from minutehand.settings.table import MODE
from minutehand.waking.mode import Wake
from minutehand.waking.unrequested import unrequested


def is_off() -> bool:
    """Whether the mode does nothing about an enqueue."""
    return _mode() is None


def transaction(executor: Executor) -> AbstractAsyncContextManager[None]:
    """Open a transaction for an enqueue and its `wake`, if the mode acts before the commit."""
    mode = _mode()
    return executor.transaction() if mode is not None and mode.precedes_commit else nullcontext()


async def wake(executor: Executor, jobs: Iterable[Enqueued]) -> None:
    """Wake the workers of jobs that were written: after the commit of the open transaction, once for all its jobs.

    In a transaction of yours whose commit is not visible here, nothing happens after the commit.
    """
    mode = _mode()
    if mode is None:
        unrequested.note_jobs(jobs)
        return
    open_wake = _open.get(executor.session)
    batch = open_wake if isinstance(open_wake, mode) else mode()
    if not batch.add(jobs):
        return
    await batch.before_commit(executor)
    if not executor.in_transaction:
        await batch.after_commit(executor)
    elif executor.after_commit(lambda: _committed(executor, batch)):
        _open[executor.session] = batch


async def wake_committed(executor: Executor, jobs: Sequence[Enqueued]) -> None:
    """Wake the workers of jobs that are committed; without jobs, of those that may be due."""
    mode = _mode()
    if mode is None:
        unrequested.needed = True
        return
    batch = mode()
    if not jobs:
        batch.add_unknown()
    if not jobs or batch.add(jobs):
        await batch.before_commit(executor)
        await batch.after_commit(executor)


async def wake_ended(executor: Executor, ended: Iterable[Record]) -> None:
    """Wake for what ends of jobs may have made due, in their transaction: callbacks of batches, and successors."""
    mode, records = _mode(), list(ended)
    batches = {record["batch"] for record in records if record.get("batch") is not None}
    if mode is None:
        if batches or any(record.get("awaited") for record in records):
            unrequested.needed = True
        return
    if batches:
        callbacks = await executor.run("callbacks_of", batches=list(batches))
        await wake(executor, [Enqueued(record["id"], "created", record["visible"]) for record in callbacks])
    if any(record.get("awaited") for record in records):
        successors = mode()
        successors.add_unknown()
        await successors.before_commit(executor)
        if not executor.in_transaction:
            await successors.after_commit(executor)
        else:
            executor.after_commit(lambda: successors.after_commit(executor))


async def _committed(executor: Executor, batch: Wake) -> None:
    # Each enqueue of the transaction has registered it.
    if _open.get(executor.session) is batch:
        del _open[executor.session]
        await batch.after_commit(executor)


def _mode() -> type[Wake] | None:
    load = _MODES.get(MODE.read())
    return load() if load else None


def _sleep() -> type[Wake]:
    from minutehand.waking.sleep import SleepWake

    return SleepWake


def _prompt() -> type[Wake]:
    from minutehand.waking.prompt import PromptWake

    return PromptWake


# Imported when they are used, for the sake of cold starts.
_MODES: dict[str, Callable[[], type[Wake]]] = {"prompt": _prompt, "sleep": _sleep}
# By the connection, whose transaction it is. Only the calls after its commit own them: a rollback drops these.
_open: WeakValueDictionary[int, Wake] = WeakValueDictionary()
