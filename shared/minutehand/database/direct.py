"""Direct: run prepared statements with libpq's own calls.

At each execution, a cursor of the driver copies the adapters, and converts the statement and the types of all values.
For the statements of every job this takes longer than the rest of the client's work. Here it is done once for a
connection. Several statements can be one transaction with one round trip.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import execute, fetch_many, send
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from minutehand.database.adaptation import adapt
from minutehand.database.fetching import Record, fetch_nearest
from minutehand.database.statements import numbered

# A statement's name, its text and its parameters.
Statement = tuple[str, str, Record]
# The text of a statement, and the types of its parameters.
Key = tuple[str, tuple[int, ...]]
SUCCESS = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


class Direct:
    """The statements that were prepared on one connection, at most `most`."""

    def __init__(self, connection: psycopg.Connection[Any], most: int) -> None:
        """Prepare nothing yet."""
        self._connection, self._most, self._made = connection, most, 0
        # For its adapters, which are not those that a handler may register on the connection.
        self._cursor = psycopg.Cursor(connection)
        adapt(self._cursor, borrowed=True)
        self._values = Transformer(self._cursor)
        self._names: dict[Key, bytes] = {}
        # The columns of each statement's result.
        self._columns: dict[bytes, dict[str, None]] = {}

    def run(self, statements: Sequence[Statement]) -> list[list[Record]]:
        """Run statements in one transaction, and return the rows of each; raise the driver's error of the first."""
        with self._connection.lock:
            sent = [self._message(*each) for each in statements]
            results = self._one(*sent[0]) if len(sent) == 1 else self._pipeline(sent)
            for result in results:
                self._check(result)
            return [self._load(message[0], result) for message, result in zip(sent, results, strict=True)]

    def forget(self) -> None:
        """Forget the statements, because the server has dropped them."""
        self._names.clear()
        self._columns.clear()

    def _message(self, _name: str, text: str, parameters: Record) -> tuple[bytes, Any, Any]:
        """Return the name of the prepared statement, the values and their formats."""
        numbers, order = numbered(text)
        values = self._values.dump_sequence(
            [parameters[each] for each in order], [PyFormat.AUTO] * len(order)
        )
        key = text, self._values.types or ()
        # The last one is the one used last.
        self._names[key] = prepared = self._names.pop(key, None) or self._prepare(numbers, key[1])
        return prepared, values, self._values.formats

    def _prepare(self, text: bytes, types: Sequence[int]) -> bytes:
        if len(self._names) >= self._most:
            self._drop(next(iter(self._names)))
        name = b"minutehand_%d" % self._made
        self._made += 1
        self._connection.pgconn.send_prepare(name, text, param_types=types)
        self._check(self._connection.wait(execute(self._connection.pgconn))[0])
        return name

    def _drop(self, key: Key) -> None:
        name = self._names.pop(key)
        self._columns.pop(name, None)
        self._connection.pgconn.send_query(b"deallocate " + name)
        self._check(self._connection.wait(execute(self._connection.pgconn))[0])

    def _one(self, name: bytes, values: Any, formats: Any) -> list[PGresult]:
        self._connection.pgconn.send_query_prepared(name, values, formats)
        return self._connection.wait(execute(self._connection.pgconn))

    def _pipeline(self, sent: Sequence[tuple[bytes, Any, Any]]) -> list[PGresult]:
        pgconn = self._connection.pgconn
        pgconn.enter_pipeline_mode()
        try:
            for message in sent:
                pgconn.send_query_prepared(*message)
            # The only one, so that all are one transaction.
            pgconn.pipeline_sync()
            return self._connection.wait(_results(pgconn, len(sent)))
        finally:
            try:
                pgconn.exit_pipeline_mode()
            except psycopg.Error:
                # Interrupted before all results arrived.
                self._connection.close()

    def _check(self, result: PGresult) -> None:
        if result.status not in SUCCESS:
            raise psycopg.errors.error_from_result(result, encoding=self._connection.info.encoding)

    def _load(self, name: bytes, result: PGresult) -> list[Record]:
        if (names := self._columns.get(name)) is None:
            self._columns[name] = names = _columns(result)
        try:
            self._values.set_pgresult(result)
            rows = self._values.load_rows(0, result.ntuples, tuple)
        except (psycopg.DataError, OverflowError):
            self._cursor.pgresult = result
            return fetch_nearest(self._cursor)
        # Copies with all names, because a dictionary that grows moves its items several times.
        records = [names.copy() for _ in rows]
        for record, row in zip(records, rows, strict=True):
            # Without `strict`, which takes longer: a row has a value for each of the names.
            record.update(zip(names, row))  # noqa: B905
        return records


def _results(pgconn: Any, count: int) -> PQGen[list[PGresult]]:
    """Return the result of each statement of a pipeline."""
    yield from send(pgconn)
    found: list[PGresult] = []
    for _ in range(count):
        found += yield from fetch_many(pgconn)
    # The sync, before which the commit may have failed.
    while (last := (yield from fetch_many(pgconn))) and last[-1].status != ExecStatus.PIPELINE_SYNC:
        found += last
    return found


def _columns(result: PGresult) -> dict[str, None]:
    return dict.fromkeys((result.fname(place) or b"").decode() for place in range(result.nfields))
