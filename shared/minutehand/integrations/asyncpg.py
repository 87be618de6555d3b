"""asyncpg: a connection, of your own or acquired from a pool."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from minutehand.database import Executor, Record
from minutehand.database.async_connection import AsyncExecutor
from minutehand.database.driver_errors import equivalent, translate
from minutehand.database.statements import statement
from minutehand.errors import ConnectionTypeError, UnreachableError
from minutehand.integrations.placeholders import numbered
from minutehand.integrations.texts import copy_rows
from minutehand.model.payload import decode

_COPY = re.compile(r"copy (\w+)\.(\w+)\s*\(([^)]*)\)", re.IGNORECASE)
# The columns of each statement that are JSON.
_json_columns: dict[str, frozenset[str]] = {}


def adapt(connection: Any) -> Executor:
    """Return the executor of a connection; raise ConnectionTypeError for a pool."""
    if isinstance(connection, (asyncpg.Connection, asyncpg.pool.PoolConnectionProxy)):
        return AsyncpgExecutor(connection)
    raise ConnectionTypeError(
        type(connection), "acquire a connection: async with pool.acquire() as connection"
    )


class AsyncpgExecutor(AsyncExecutor):
    """Runs statements on a connection, and thereby in its transaction."""

    _decodes_json: bool | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self.connection.is_in_transaction())

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return True

    async def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        with _translated():
            text, arguments = numbered(statement(name), parameters)
            rows = await self._fetch(name, text, arguments)
            columns = _json_columns[name] if rows else frozenset()
            decoding = bool(columns) and not await self._is_json_decoded()
        return [_record(row, columns if decoding else frozenset()) for row in rows]

    async def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        target = _COPY.search(statement(name))
        assert target is not None
        schema, table, columns = target.groups()

        async def source() -> AsyncIterator[bytes]:
            for row in copy_rows(rows):
                yield row

        with _translated():
            await self.connection.copy_to_table(
                table,
                schema_name=schema,
                columns=re.findall(r"\w+", columns),
                source=source(),
                format="text",
            )

    @asynccontextmanager
    async def block_of_transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open, with the driver's means."""
        with _translated():
            if self.in_transaction:
                # The driver refuses to nest its blocks in a transaction that was begun by a statement.
                async with self._savepoint():
                    yield
            else:
                async with self.connection.transaction():
                    yield

    @asynccontextmanager
    async def _savepoint(self) -> AsyncIterator[None]:
        name = f"minutehand_{uuid4().hex}"
        await self.connection.execute(f"savepoint {name}")
        try:
            yield
        except BaseException:
            await self.connection.execute(f"rollback to savepoint {name}")
            raise
        await self.connection.execute(f"release savepoint {name}")

    async def _fetch(self, name: str, text: str, arguments: list[Any]) -> list[Any]:
        if name in _json_columns:
            return list(await self.connection.fetch(text, *arguments))
        prepared = await self.connection.prepare(text)
        columns = prepared.get_attributes()
        rows = list(await prepared.fetch(*arguments))
        _json_columns[name] = frozenset(each.name for each in columns if each.type.name in ("json", "jsonb"))
        return rows

    async def _is_json_decoded(self) -> bool:
        """Return whether the caller has registered a codec that decodes JSON."""
        if self._decodes_json is None:
            self._decodes_json = await self.connection.fetchval("""select '"text"'::jsonb""") == "text"
        return self._decodes_json


def _record(row: Any, json: frozenset[str]) -> Record:
    return {name: _value(value, name in json) for name, value in row.items()}


def _value(value: Any, json: bool) -> Any:
    if json and isinstance(value, (str, bytes)):
        return decode(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        # The driver returns an infinite time as the last or first one, without a time zone.
        return value.replace(tzinfo=UTC)
    return UUID(int=value.int) if isinstance(value, UUID) else value


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the driver's errors, by the table for those of psycopg."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise translate(
            equivalent(error.sqlstate, str(error), error.constraint_name, error.severity_en or error.severity)
        ) from error
    except asyncpg.DataError as error:
        raise translate(equivalent("22000", str(error))) from error
    except UnicodeEncodeError as error:
        raise translate(error) from error
    except (asyncpg.InterfaceError, OSError) as error:
        raise UnreachableError(f"the database cannot be reached: {error}") from error
