"""Callers: a transaction of each library, with the same methods for all.

The methods are coroutines. Those of a sync library never suspend, so that its tests run without an event loop.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, ClassVar

import asyncpg
import django.db.transaction
import psycopg
import psycopg2

from tests.integrations.django_site import connected


class Caller(ABC):
    """A transaction that the caller has begun."""

    # Whether `connection` is async.
    is_async: ClassVar[bool] = False
    # Whether events wait for the caller's commit. Otherwise they are not emitted in its transaction.
    emits: ClassVar[bool] = False
    connection: Any

    def __init__(self, url: str) -> None:
        self.url = url
        self.resources = AsyncExitStack()

    @abstractmethod
    async def begin(self) -> None:
        """Open a connection and a transaction."""

    @abstractmethod
    async def execute(self, text: str) -> None: ...

    async def commit(self) -> None:
        self.connection.commit()

    async def rollback(self) -> None:
        self.connection.rollback()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        await self.execute("savepoint mine")
        try:
            yield
        except BaseException:
            await self.execute("rollback to savepoint mine")
            raise
        await self.execute("release savepoint mine")


class Psycopg(Caller):
    async def begin(self) -> None:
        self.connection = self.resources.enter_context(psycopg.connect(self.url))

    async def execute(self, text: str) -> None:
        self.connection.execute(text)


class AsyncPsycopg(Caller):
    is_async = True

    async def begin(self) -> None:
        self.connection = await psycopg.AsyncConnection.connect(self.url)
        self.resources.push_async_callback(self.connection.close)

    async def execute(self, text: str) -> None:
        await self.connection.execute(text)

    async def commit(self) -> None:
        await self.connection.commit()

    async def rollback(self) -> None:
        await self.connection.rollback()


class Psycopg2(Caller):
    async def begin(self) -> None:
        self.connection = psycopg2.connect(self.url)
        self.resources.callback(self.connection.close)

    async def execute(self, text: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(text)


class Asyncpg(Caller):
    is_async = True

    async def begin(self) -> None:
        self.connection = await asyncpg.connect(self.url)
        self.resources.push_async_callback(self.connection.close)
        self.transaction = self.connection.transaction()
        await self.transaction.start()

    async def execute(self, text: str) -> None:
        await self.connection.execute(text)

    async def commit(self) -> None:
        await self.transaction.commit()

    async def rollback(self) -> None:
        await self.transaction.rollback()


class AsyncpgPool(Asyncpg):
    async def begin(self) -> None:
        pool = await self.resources.enter_async_context(asyncpg.create_pool(self.url, min_size=1, max_size=1))
        self.connection = await self.resources.enter_async_context(pool.acquire())
        await self.connection.execute("begin")

    async def commit(self) -> None:
        await self.connection.execute("commit")

    async def rollback(self) -> None:
        await self.connection.execute("rollback")


class Django(Caller):
    emits = True

    async def begin(self) -> None:
        self.connection = self.resources.enter_context(connected(self.url))
        self.atomic = django.db.transaction.atomic()
        self.atomic.__enter__()
        self.resources.push_async_callback(self.rollback)

    async def execute(self, text: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(text)

    async def commit(self) -> None:
        self.atomic.__exit__(None, None, None)

    async def rollback(self) -> None:
        if self.connection.in_atomic_block:
            self.atomic.__exit__(ValueError, ValueError(), None)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        with django.db.transaction.atomic():
            yield
