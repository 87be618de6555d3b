"""Mode: what the modes have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from minutehand.database import Executor
from minutehand.model.enqueued import Enqueued


class Wake(ABC):
    """What a mode does about the jobs of one transaction."""

    # Whether `before_commit` needs a transaction that is still open.
    precedes_commit: ClassVar[bool] = False

    @abstractmethod
    def add(self, jobs: Iterable[Enqueued]) -> bool:
        """Add jobs that were written; return whether anything is to be done about any of them."""

    @abstractmethod
    def add_unknown(self) -> None:
        """Add jobs of which nothing is known, except that some may be due."""

    @abstractmethod
    async def before_commit(self, executor: Executor) -> None:
        """Act before the commit, after each `add`. An error fails the enqueue."""

    @abstractmethod
    async def after_commit(self, executor: Executor) -> None:
        """Act once after the commit, for all jobs that were added. Must not raise."""
