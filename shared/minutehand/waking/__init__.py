"""Waking: what an enqueue does so that its jobs start in time, in the modes that need it.

    minute   nothing: the next tick finds the jobs
    sleep    before the commit, it requests the tick that will find them; see minutehand.waking.sleep

A mode is a subclass of Wake. No job depends on it: a later tick finds every job that a mode missed.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import ClassVar

from minutehand.database import Executor
from minutehand.model.enqueued import Enqueued
from minutehand.settings.table import MODE


class Wake:
    """What a mode does about the jobs of one transaction."""

    # Whether `before_commit` needs a transaction that is still open.
    precedes_commit: ClassVar[bool] = False

    def add(self, jobs: Iterable[Enqueued]) -> bool:
        """Add jobs that were written; return whether anything is to be done about any of them."""
        raise NotImplementedError

    async def before_commit(self, executor: Executor) -> None:
        """Act before the commit, after each `add`. An error fails the enqueue."""


def transaction(executor: Executor) -> AbstractAsyncContextManager[None]:
    """Open a transaction for an enqueue and its `wake`, if the mode acts before the commit."""
    mode = _mode()
    return executor.transaction() if mode is not None and mode.precedes_commit else nullcontext()


async def wake(executor: Executor, jobs: Iterable[Enqueued]) -> None:
    """Do what the mode does about jobs that were written, in the same transaction."""
    mode = _mode()
    if mode is not None and (batch := mode()).add(jobs):
        await batch.before_commit(executor)


def _mode() -> type[Wake] | None:
    load = _MODES.get(MODE.read())
    return load() if load else None


def _sleep() -> type[Wake]:
    from minutehand.waking.sleep import SleepWake

    return SleepWake


# Imported when they are used, for the sake of cold starts.
_MODES: dict[str, Callable[[], type[Wake]]] = {"sleep": _sleep}
