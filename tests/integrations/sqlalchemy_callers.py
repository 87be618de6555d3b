"""Callers that use SQLAlchemy, over each driver."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import psycopg
import psycopg2
import sqlalchemy
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool

from tests.integrations.callers import Caller


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
