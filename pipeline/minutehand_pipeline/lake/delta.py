"""What delta-rs is told and tells: files, types, texts and errors, as the lake has them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from time import time_ns

import pyarrow as pa
from deltalake import DeltaTable, Field, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.schema import PrimitiveType
from deltalake.transaction import AddAction

from minutehand_pipeline.errors import BusyError, LakeError
from minutehand_pipeline.schemas import Home

PARTITION = "day"

# Delta's names of the types that the published schemas use, by those of Spark.
TYPES = {
    "string": "string", "int": "integer", "bigint": "long", "boolean": "boolean", "double": "double",
    "date": "date", "timestamp": "timestamp",
}  # fmt: skip


@dataclass(frozen=True)
class DataFile:
    """A Parquet file of a table: its path below the table's folder, its bytes, its UTC day, and its rows.

    `stats` is what Delta keeps of it, as JSON; a file that the table has is told without.
    """

    path: str
    size: int
    day: date
    rows: int
    stats: str = ""


def schema_of(home: Home) -> Schema:
    """Return a home's columns as Delta has them; every one may be null, so that later ones can be added."""
    return Schema(
        [
            Field(each.name, PrimitiveType(TYPES[each.dataType.simpleString()]), nullable=True)
            for each in home.schema
        ]
    )


def type_of(each: Field) -> str:
    """Return the name of a column's type."""
    return str(getattr(each.type, "type", each.type))


def files_of(table: DeltaTable) -> Iterator[DataFile]:
    """Return the data files that a table has."""
    added = pa.table(table.get_add_actions(flatten=True))
    wanted = added.select(["path", "size_bytes", "num_records", f"partition.{PARTITION}"])
    for path, size, rows, day in zip(*(column.to_pylist() for column in wanted.columns), strict=True):
        yield DataFile(path, size, day, rows)


def added(file: DataFile) -> AddAction:
    """Return what a commit says of a new file."""
    return AddAction(
        path=file.path, size=file.size, partition_values={PARTITION: file.day.isoformat()},
        modification_time=time_ns() // 1_000_000, data_change=True, stats=file.stats,
    )  # fmt: skip


@contextmanager
def told(uri: str, fenced: str = "") -> Iterator[None]:
    """Raise delta-rs's errors as our own."""
    try:
        yield
    except CommitFailedError as error:
        if fenced:
            raise BusyError(
                f"another run was quicker than {fenced} in {uri}; nothing was committed"
            ) from error
        raise LakeError(f"{uri} took no commit: {_sentence(error)}") from error
    except (DeltaError, OSError) as error:
        raise LakeError(f"the lake's table {uri} cannot be used: {_sentence(error)}") from error


def literal(value: str) -> str:
    """Return a text as delta-rs's SQL has it, which takes no parameters and knows no other escape."""
    return "'" + value.replace("'", "''") + "'"


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
