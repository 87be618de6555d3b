"""Conversions between this project's values and delta-rs: files, types, literals and errors."""

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
# Days of one commit of a compaction or an erasure. Their files are written at the same time, so memory grows with them.
# A run that is killed continues after the last commit.
DAYS_AT_ONCE = 31

# Delta's type names for the Spark types of the published schemas.
TYPES = {
    "string": "string",
    "int": "integer",
    "bigint": "long",
    "boolean": "boolean",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp",
}


@dataclass(frozen=True)
class DataFile:
    """A Parquet file of a table: its path below the table's folder, size in bytes, UTC day and number of rows.

    `stats` is the JSON that Delta stores with a new file. It is empty for a file that is already in the table.
    """

    path: str
    size: int
    day: date
    rows: int
    stats: str = ""


def table_properties(home: Home) -> dict[str, str]:
    """Return the properties of a table.

    The commit log is never cleaned up: a run that follows a killed one reads the facts of its batch from there. So it
    must have no statistics of columns with private data, which would be values of rows.
    """
    return {
        "delta.enableExpiredLogCleanup": "false",
        "delta.dataSkippingStatsColumns": f"{home.key[0]},{home.dated}",
    }


def delta_schema(home: Home) -> Schema:
    """Return a home's columns for Delta. All are nullable, so that columns can be added later."""
    return Schema(
        [Field(each.name, _type(each.dataType.simpleString()), nullable=True) for each in home.schema]
    )


def type_name(field: Field) -> str:
    """Return the name of a column's type."""
    return str(getattr(field.type, "type", field.type))


def list_files(table: DeltaTable) -> Iterator[DataFile]:
    """Yield the data files of a table."""
    added = pa.table(table.get_add_actions(flatten=True))
    wanted = added.select(["path", "size_bytes", "num_records", f"partition.{PARTITION}"])
    for path, size, rows, day in zip(*(column.to_pylist() for column in wanted.columns), strict=True):
        yield DataFile(path, size, day, rows)


def add_action(file: DataFile) -> AddAction:
    """Return the commit entry that adds a file."""
    return AddAction(
        path=file.path,
        size=file.size,
        partition_values={PARTITION: file.day.isoformat()},
        modification_time=time_ns() // 1_000_000,
        data_change=True,
        stats=file.stats,
    )


@contextmanager
def translated_errors(uri: str, fenced: str = "") -> Iterator[None]:
    """Translate delta-rs's errors. `fenced` names a change that another run may commit first."""
    try:
        yield
    except CommitFailedError as error:
        if fenced:
            raise BusyError(
                f"another run committed before {fenced} in {uri}; nothing was committed"
            ) from error
        raise LakeError(f"commit to {uri} failed: {_message(error)}") from error
    except (DeltaError, OSError) as error:
        raise LakeError(f"cannot use the lake's table {uri}: {_message(error)}") from error


def literal(value: str) -> str:
    """Return a string literal for delta-rs's SQL, which takes no parameters and has no other escape."""
    return "'" + value.replace("'", "''") + "'"


def _type(spark_type: str) -> PrimitiveType:
    return PrimitiveType(TYPES[spark_type])


def _message(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
