"""The lake as frames: read what a table's files hold, and write data files that a commit then makes part of it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from minutehand_pipeline.lake import PARTITION, DataFile, Lake
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.sources.arrow import arrow_schema
from minutehand_pipeline.sources.data_files import Written

Batches = Iterator[pa.RecordBatch]

BATCH = 10_000  # rows

FILES = T.StructType(
    [
        T.StructField("path", T.StringType()),
        T.StructField("size", T.LongType()),
        T.StructField("day", T.DateType()),
        T.StructField("rows", T.LongType()),
        T.StructField("stats", T.StringType()),
    ]
)


def read_lake(
    spark: SparkSession, lake: Lake, home: Home, *, since: date | None = None, until: date | None = None
) -> DataFrame:
    """Return a home's rows in the lake, of the UTC days from `since` to `until`, both included.

    The columns are those of the home's schema: what the table has besides is left out, what it lacks is null. A table
    that does not exist has no rows. Raises LakeError where a column has another type.
    """
    return read_files(spark, lake, home, lake.table(home).files(since, until))


def read_files(spark: SparkSession, lake: Lake, home: Home, files: Sequence[DataFile]) -> DataFrame:
    """Return the rows of some data files of a table, committed or not.

    Spark's own reader opens those of a folder, and takes from them only the columns that are asked for; Spark alone
    reaches no object store, so that Python's reader opens those, one a task.
    """
    if not files:
        return spark.createDataFrame([], home.schema)
    table = lake.table(home)
    table.columns()  # refuses what it cannot read
    if not lake.local:
        return spark.range(0, len(files), 1, len(files)).mapInArrow(_reader(lake, home, files), home.schema)
    return (
        spark.read.schema(home.schema)
        .option("basePath", table.uri)
        .parquet(*(f"{table.uri}/{file.path}" for file in files))
        .select(*home.schema.names)
    )


def append(frame: DataFrame, lake: Lake, home: Home, *, app: str, number: int) -> int:
    """Write a frame with a home's columns to the lake as batch `number` of `app`; return how many rows it had.

    The number is one more than that of the app's last batch, else LakeError. All of it is there, or none.
    """
    table = lake.table(home)
    table.create()
    table.adopt()
    files = write_files(frame, lake, home)
    table.commit(files, app=app, number=number)
    return sum(file.rows for file in files)


def write_files(frame: DataFrame, lake: Lake, home: Home) -> list[DataFile]:
    """Write a frame's rows as data files, some for each task and day, and say which; nobody sees them before a commit.

    What a task wrote that died, or lost against its copy, is not among them.
    """
    told = frame.select(*home.schema.names).mapInArrow(_writer(lake, home), FILES)
    return [
        DataFile(row["path"], row["size"], row["day"], row["rows"], row["stats"]) for row in told.collect()
    ]


def _writer(lake: Lake, home: Home) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        with Written(lake.table(home).filesystem, home) as written:
            for batch in batches:
                written.add(batch)
        schema = pa.schema(
            {
                "path": pa.string(),
                "size": pa.int64(),
                "day": pa.date32(),
                "rows": pa.int64(),
                "stats": pa.string(),
            }
        )
        yield pa.RecordBatch.from_pylist([vars(file) for file in written.files], schema=schema)

    return write


def _reader(lake: Lake, home: Home, files: Sequence[DataFile]) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        filesystem = lake.table(home).filesystem
        for batch in batches:
            for place in batch.column(0).to_pylist():
                file = files[place]
                with filesystem.open_input_file(file.path) as opened:
                    yield from _rows(pq.ParquetFile(opened), home, file.day)

    return read


def _rows(opened: pq.ParquetFile, home: Home, day: date) -> Batches:
    schema = arrow_schema(home.schema)
    there = [name for name in opened.schema_arrow.names if name in schema.names and name != PARTITION]
    for batch in opened.iter_batches(BATCH, columns=there):
        yield pa.RecordBatch.from_arrays([_column(batch, each, day) for each in schema], schema=schema)


def _column(batch: pa.RecordBatch, wanted: pa.Field, day: date) -> pa.Array:
    if wanted.name == PARTITION:
        return pa.repeat(pa.scalar(day, wanted.type), batch.num_rows)
    if wanted.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, wanted.type)
    return batch.column(wanted.name).cast(wanted.type)
