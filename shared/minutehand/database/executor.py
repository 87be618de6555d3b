"""Executor: what a function that works with sync and async connections runs its statements on.

Such a function is written once, as a coroutine. With a sync connection, an executor blocks instead of suspending, so
the coroutine runs to its end without an event loop.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import sleep
from typing import Any, TypeVar

from minutehand.database.after_commit import Call
from minutehand.database.conflicts import attempts
from minutehand.database.database import Database
from minutehand.database.fetching import Record
from minutehand.errors import InvalidJobError

Result = TypeVar("Result")


class Executor(ABC):
    """Runs named statements on one connection, or on connections of a pool."""

    tenant: str = ""

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    @property
    @abstractmethod
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""

    @property
    @abstractmethod
    def session(self) -> int:
        """A number that identifies the connection, and thereby the open transaction."""

    @abstractmethod
    async def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""

    async def execute_each(self, name: str, parameters: Iterable[Record]) -> list[Record]:
        """Run a named statement of one row for each of these parameters, in a transaction; return the rows."""
        return [(await self.execute(name, each))[0] for each in parameters]

    @abstractmethod
    async def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager[None]:
        """Open a transaction, or a savepoint inside the one that is open."""

    @abstractmethod
    def after_commit(self, call: Call) -> bool:
        """Run a call after the open transaction commits; return False if its commit is not visible here."""

    @abstractmethod
    async def pause(self, seconds: float) -> None:
        """Sleep."""

    @abstractmethod
    async def block(self, call: Callable[[], Result]) -> Result:
        """Call a function that may block for long, such as a request to a service."""

    async def run(self, name: str, /, **parameters: object) -> list[Record]:
        """Run a named statement and return its rows as dictionaries."""
        try:
            return await self.retry_on_conflict(lambda: self.execute(name, parameters))
        except InvalidJobError as error:
            _add_received(error, parameters)
            raise

    async def retry_on_conflict(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run the work of one transaction, and repeat it after a serialization failure."""
        for attempt in attempts(self):
            with attempt:
                return await work()
        raise AssertionError("the last attempt returns or raises")


def _add_received(error: InvalidJobError, parameters: Record) -> None:
    # Imported here, because it is needed for errors only.
    from minutehand.model.received import add_received

    add_received(error, parameters)


class ExecutorSource(ABC):
    """What opens an executor for each call: an AsyncDatabase."""

    @abstractmethod
    def executor(self) -> Executor:
        """Return an executor for one call."""


class BlockingExecutor(Executor):
    """Runs statements on a Database. Its coroutines never suspend."""

    def __init__(self, database: Database) -> None:
        """Use a Database."""
        self.database = database
        self.tenant = getattr(database, "tenant", "")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.database.in_transaction

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return self.database.autocommit

    @property
    def session(self) -> int:
        """A number that identifies the connection, and thereby the open transaction."""
        return id(self.database.connection)

    async def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        return self.database.execute(name, parameters)

    async def execute_each(self, name: str, parameters: Iterable[Record]) -> list[Record]:
        """Run a named statement of one row for each of these parameters, in a transaction; return the rows."""
        return self.database.execute_each(name, parameters)

    async def run(self, name: str, /, **parameters: object) -> list[Record]:
        """Run a named statement and return its rows as dictionaries."""
        try:
            return self.database.run(name, **parameters)
        except InvalidJobError as error:
            _add_received(error, parameters)
            raise

    async def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        self.database.copy(name, rows)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open."""
        with self.database.transaction():
            yield

    def after_commit(self, call: Call) -> bool:
        """Run a call after the open transaction commits; return False if its commit is not visible here."""
        return self.database.after_commit(call)

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        sleep(seconds)

    async def block(self, call: Callable[[], Result]) -> Result:
        """Call a function that may block for long, such as a request to a service."""
        return call()
