"""Callers: a transaction of each library, with the same methods for all.

The methods are coroutines. Those of a sync library never suspend, so that its tests run without an event loop.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, ClassVar

import asyncpg
import django.db
import django.db.transaction
import psycopg
import psycopg2
import sqlalchemy
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool


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


class SQLAlchemyConnection(Caller):
    driver: Any = psycopg

    async def begin(self) -> None:
        name = f"postgresql+{self.driver.__name__}://"
        engine = create_engine(name, creator=lambda: self.driver.connect(self.url), poolclass=NullPool)
        self.resources.callback(engine.dispose)
        self.connection = self.open(engine)
        self.resources.callback(self.connection.close)

    def open(self, engine: Any) -> Any:
        return engine.connect()

    async def execute(self, text: str) -> None:
        self.connection.execute(sqlalchemy.text(text))

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        with self.connection.begin_nested():
            yield


class SQLAlchemySession(SQLAlchemyConnection):
    emits = True

    def open(self, engine: Any) -> Any:
        return Session(engine)


class SQLAlchemyPsycopg2(SQLAlchemySession):
    driver = psycopg2


class ScopedSession(SQLAlchemySession):
    def open(self, engine: Any) -> Any:
        return scoped_session(sessionmaker(engine))


class SQLAlchemyAsyncConnection(Caller):
    is_async = True
    name, connect = "asyncpg", asyncpg.connect

    async def begin(self) -> None:
        engine = create_async_engine(
            f"postgresql+{self.name}://",
            async_creator=lambda: type(self).connect(self.url),
            poolclass=NullPool,
        )
        self.resources.push_async_callback(engine.dispose)
        self.connection = await self.open(engine)
        self.resources.push_async_callback(self.connection.close)

    async def open(self, engine: Any) -> Any:
        return await engine.connect()

    async def execute(self, text: str) -> None:
        await self.connection.execute(sqlalchemy.text(text))

    async def commit(self) -> None:
        await self.connection.commit()

    async def rollback(self) -> None:
        await self.connection.rollback()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self.connection.begin_nested():
            yield


class SQLAlchemyAsyncSession(SQLAlchemyAsyncConnection):
    emits = True

    async def open(self, engine: Any) -> Any:
        return AsyncSession(engine)


class SQLAlchemyAsyncPsycopg(SQLAlchemyAsyncSession):
    name, connect = "psycopg", psycopg.AsyncConnection.connect


class Django(Caller):
    emits = True

    async def begin(self) -> None:
        if not settings.configured:
            engine = {"ENGINE": "django.db.backends.postgresql", "NAME": "unset"}
            settings.configure(USE_TZ=True, DATABASES={"default": engine})
        parts = conninfo_to_dict(self.url)
        self.connection = django.db.connection
        self.connection.settings_dict |= {
            "NAME": parts["dbname"],
            "USER": parts.get("user", ""),
            "PASSWORD": parts.get("password", ""),
            "HOST": parts.get("host", ""),
            "PORT": parts.get("port", ""),
        }
        self.resources.callback(self.connection.close)
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


CALLERS = [
    Psycopg,
    AsyncPsycopg,
    Psycopg2,
    Asyncpg,
    AsyncpgPool,
    SQLAlchemyConnection,
    SQLAlchemySession,
    SQLAlchemyPsycopg2,
    ScopedSession,
    SQLAlchemyAsyncConnection,
    SQLAlchemyAsyncSession,
    SQLAlchemyAsyncPsycopg,
    Django,
]
