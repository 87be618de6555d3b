"""The ledger of loads, in Postgres: which are done, and the rows that a run of one rejected."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, TextIO

from minutehand.database import Database, sql
from minutehand.settings import database_url
from minutehand_pipeline.load.files import Piece, open_filesystem
from minutehand_pipeline.sources.writing import staged

LIMITS = "select max_payload from minutehand.settings"
DONE = """
select load, run::text, at, who, created, replaced, ignored, rejected from minutehand.loads where load = %(load)s
"""
REJECTS = """
select distinct on (slice, line) slice, source, line, reason, raw
  from minutehand.{} where reason is not null order by slice, line
"""
COUNTED = 8 << 20  # bytes

Counts = dict[str, Any]


def most_bytes(database: Database) -> int:
    """Return how large a payload may be."""
    [(most,)] = database.connection.execute(LIMITS).fetchall()
    return int(most)


def done(database: Database, load: str) -> Counts | None:
    """Return what became of a load, if it is in the ledger."""
    cursor = database.connection.execute(DONE, {"load": load})
    names = [column.name for column in cursor.description or ()]
    found = cursor.fetchone()
    return None if found is None else dict(zip(names, found, strict=True))


def write_rejects(database: Database, run: str, pieces: Iterable[Piece], out: TextIO) -> int:
    """Write the rejected rows of a run, in the order of the input, an object of JSON a line; return how many.

    A row in several attempts of a task stands there once. What is read of it at once is bounded.
    """
    by_number = {piece.number: piece for piece in pieces}
    before: dict[int, int] = {}
    count = 0
    with database.transaction() as connection, closing(connection.cursor(name="rejects")) as rows:
        rows.execute(sql.SQL(REJECTS).format(sql.Identifier(staged(run))))
        for slice, source, line, reason, raw in rows:
            piece = by_number[slice]
            if slice not in before:
                before[slice] = lines_before(piece)
            told = {"source": source, "line": before[slice] + line, "reason": reason}
            print(json.dumps(told | ({} if raw is None else {"raw": raw}), ensure_ascii=False), file=out)
            count += 1
    return count


def lines_before(piece: Piece) -> int:
    """Return how many lines, or rows of Parquet, a file has before a piece of it."""
    filesystem, path = open_filesystem(piece.file.uri)
    if piece.first == 0:
        return 0
    with filesystem.open_input_file(path) as opened:
        if piece.file.format == "parquet":
            import pyarrow.parquet as pq

            metadata = pq.ParquetFile(opened).metadata
            return sum(metadata.row_group(group).num_rows for group in range(piece.first))
        return 1 + sum(part.count(b"\n") for part in _parts(opened, piece.first - 1))


def _parts(opened: Any, size: int) -> Iterator[bytes]:
    while size > 0 and (part := opened.read(min(size, COUNTED))):
        size -= len(part)
        yield part


def end_run(database: Database, run: str) -> None:
    """Drop what a run has staged."""
    with database.transaction() as connection:
        connection.execute("select minutehand.end_load(%s)", [run])


def staged_is_there(database: Database, run: str) -> bool:
    """Whether a run's table is there still."""
    found = database.connection.execute(
        "select to_regclass('minutehand.' || %s) is not null", [staged(run)]
    ).fetchall()
    return bool(found[0][0])


def staged_bytes(run: str) -> int:
    """Return how much a run has staged until now, over a connection of its own."""
    with closing(Database(database_url)) as database:
        asked = "select coalesce(pg_total_relation_size(to_regclass('minutehand.' || %s)), 0)"
        return int(database.connection.execute(asked, [staged(run)]).fetchall()[0][0])
