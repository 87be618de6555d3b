"""psycopg2: a connection."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

from psycopg2 import Error, extensions

from minutehand.database import Database, Record
from minutehand.database.adaptation import interval_text
from minutehand.database.after_commit import OnCommit
from minutehand.database.driver_errors import equivalent, translate, translated
from minutehand.database.statements import statement
from minutehand.errors import ConnectionTypeError, MinutehandError
from minutehand.integrations.texts import array_text, copy_rows
from minutehand.model.payload import decode

# Object ids of types, which are the same in every database.
JSON, JSONB, INTERVAL, TIMESTAMPTZ, UUIDS = 114, 3802, 1186, 1184, 2950


def adapt(connection: Any) -> Database:
    """Return the database of a connection; raise ConnectionTypeError for a pool."""
    if isinstance(connection, extensions.connection):
        return Psycopg2Database(connection)
    raise ConnectionTypeError(type(connection), "pass a connection: pool.getconn()")


class Psycopg2Database(Database):
    """Runs statements on a caller's connection, and thereby in its transaction."""

    def __init__(self, connection: Any, on_commit: OnCommit | None = None) -> None:
        """Use a connection."""
        super().__init__("")
        self._raw, self._borrowed, self.on_commit = connection, True, on_commit

    @property
    def connection(self) -> Any:
        """The connection."""
        return self._raw

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._raw.get_transaction_status() != extensions.TRANSACTION_STATUS_IDLE)

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return bool(self._raw.autocommit)

    def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        with self._driver_cursor() as cursor:
            cursor.execute(statement(name), {name: _argument(value) for name, value in parameters.items()})
            if cursor.description is None:
                return []
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def execute_each(self, name: str, parameters: Iterable[Record]) -> list[Record]:
        """Run a named statement of one row for each of these parameters, in a transaction; return the rows."""
        return [self.execute(name, each)[0] for each in parameters]

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        with self._driver_cursor() as cursor:
            cursor.copy_expert(statement(name), BytesIO(b"".join(copy_rows(rows))))

    @contextmanager
    def _block_of_transaction(self, *, raw_errors: bool) -> Iterator[None]:
        name = f"minutehand_{uuid4().hex}"
        begin, end, undo = (
            (f"savepoint {name}", f"release savepoint {name}", f"rollback to savepoint {name}")
            if self.in_transaction
            else ("begin", "commit", "rollback")
        )
        self._send(begin)
        try:
            yield
        except BaseException:
            self._send(undo)
            raise
        self._send(end)

    def _send(self, text: str) -> None:
        with self._driver_cursor() as cursor:
            cursor.execute(text)

    @contextmanager
    def _driver_cursor(self) -> Iterator[Any]:
        # Not the caller's cursor factory, which may return rows in another form.
        with (
            translated(),
            _translated(),
            self._raw.cursor(cursor_factory=extensions.cursor) as cursor,
        ):
            for loader in LOADERS:
                extensions.register_type(loader, cursor)
            yield cursor


class _Typed:
    """An argument with the type that psycopg would send."""

    def __init__(self, text: str, cast: str = "") -> None:
        self._text, self._cast = text, cast

    def __conform__(self, _protocol: Any) -> "_Typed":
        return self

    def prepare(self, connection: Any) -> None:
        self._connection = connection

    def getquoted(self) -> bytes:
        quoted = extensions.QuotedString(self._text)
        quoted.prepare(self._connection)
        literal: bytes = quoted.getquoted()
        return literal + self._cast.encode()


def _argument(value: Any) -> Any:
    match value:
        case timedelta():
            return _Typed(interval_text(value), "::interval")
        case UUID():
            return _Typed(str(value), "::uuid")
        # Without a type, so that the server takes that of the context.
        case list() | tuple():
            return _Typed(array_text(value))
    return value


def _nearest(load: Any, first: object, last: object) -> Callable[[str | None, Any], Any]:
    """Return a loader that returns the nearest value that Python has."""

    def loaded(text: str | None, cursor: Any) -> Any:
        if text is None:
            return None
        try:
            value = None if text.endswith("infinity") else load(text, cursor)
        except (Error, ValueError, OverflowError):
            value = None
        if value is None:
            return first if text.startswith("-") or text.endswith("BC") else last
        return value

    return loaded


def _json(text: str | None, _cursor: Any) -> Any:
    return None if text is None else decode(text)


def _uuid(text: str | None, _cursor: Any) -> UUID | None:
    return None if text is None else UUID(text)


LOADERS = [
    extensions.new_type((JSON, JSONB), "minutehand_json", _json),
    extensions.new_type((UUIDS,), "minutehand_uuid", _uuid),
    extensions.new_type(
        (TIMESTAMPTZ,),
        "minutehand_timestamptz",
        _nearest(
            extensions.PYDATETIMETZ,
            datetime.min.replace(tzinfo=UTC),
            datetime.max.replace(tzinfo=UTC),
        ),
    ),
    extensions.new_type(
        (INTERVAL,), "minutehand_interval", _nearest(extensions.PYINTERVAL, timedelta.min, timedelta.max)
    ),
]


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the driver's errors, by the table for those of psycopg."""
    try:
        yield
    except Error as error:
        diagnostics = error.diag
        raise translate(
            equivalent(
                error.pgcode,
                diagnostics.message_primary or str(error),
                diagnostics.constraint_name,
                diagnostics.severity_nonlocalized,
            )
        ) from error
    except MinutehandError:
        raise
    except ValueError as error:
        # A text contains a character that Postgres does not support.
        raise translate(UnicodeEncodeError("utf-8", "", 0, 0, str(error))) from error
