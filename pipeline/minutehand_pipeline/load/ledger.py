"""The ledger of loads, in Postgres: which are done, and what a run of one has staged."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from minutehand.database import Database
from minutehand.settings import database_url
from minutehand_pipeline.load.files import Piece, open_filesystem
from minutehand_pipeline.sources.writing import staged

QUEUES = "select kind::text, queue::text from minutehand.defaults where queue is not null"
LIMITS = "select max_payload from minutehand.settings"
DONE = """
select load, run::text, at, who, created, replaced, ignored, rejected from minutehand.loads where load = %(load)s
"""
COUNTED = 8 << 20  # bytes

Counts = dict[str, Any]


def most_bytes(database: Database) -> int:
    """Return how large a payload may be."""
    [(most,)] = database.connection.execute(LIMITS).fetchall()
    return int(most)


def queues(database: Database) -> dict[str, str]:
    """Return the queue of each kind that has one of its own."""
    return dict(database.connection.execute(QUEUES).fetchall())


def own_tenant(database: Database) -> str:
    """Return the tenant that this session is confined to, or an empty text."""
    [(tenant,)] = database.connection.execute("select minutehand.current_tenant()").fetchall()
    return str(tenant)


def done(database: Database, load: str) -> Counts | None:
    """Return what became of a load, if it is in the ledger."""
    cursor = database.connection.execute(DONE, {"load": load})
    names = [column.name for column in cursor.description or ()]
    found = cursor.fetchone()
    return None if found is None else dict(zip(names, found, strict=True))


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
