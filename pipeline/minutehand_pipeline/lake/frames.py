"""The lake as Spark frames: read a table's files, and write data files for a later commit."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.lake.data_files import DataFileWriter
from minutehand_pipeline.lake.delta import PARTITION, DataFile
from minutehand_pipeline.lake.lake import Lake
from minutehand_pipeline.schemas import Home

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
    """Return a home's rows in the lake, from UTC day `since` to `until`, both included.

    The columns are those of the home's schema: extra columns of the table are left out, missing ones are null. A
    table that does not exist has no rows. Raises LakeError if a column has another type.
    """
    return read_files(spark, lake, home, lake.table(home).files(since, until))


def read_files(spark: SparkSession, lake: Lake, home: Home, files: Sequence[DataFile]) -> DataFrame:
    """Return the rows of some data files of a table, committed or not.

    Spark's own reader opens files in a folder, because it reads only the columns that a query needs. Without extra
    jars Spark cannot read an object store, so tasks open those files in Python.
    """
    if not files:
        # From a list, Spark would start Python processes that read nothing.
        return spark.createDataFrame(arrow_schema(home.schema).empty_table(), home.schema)
    table = lake.table(home)
    # Raises LakeError if the table is not readable.
    table.columns()
    if not lake.local:
        return spark.range(0, len(files), 1, len(files)).mapInArrow(_reader(lake, home, files), home.schema)
    return (
        spark.read.schema(home.schema)
        .option("basePath", table.uri)
        .parquet(*(f"{table.uri}/{file.path}" for file in files))
        .select(*home.schema.names)
    )


def append(frame: DataFrame, lake: Lake, home: Home, *, app: str, number: int) -> int:
    """Write a frame to the lake as batch `number` of `app`, all or nothing; return the number of rows.

    Raises LakeError unless the number is one more than that of the app's last batch.
    """
    table = lake.table(home)
    table.create()
    table.add_missing_columns()
    files = write_files(frame, lake, home)
    table.commit(files, app=app, number=number)
    return sum(file.rows for file in files)


def write_files(frame: DataFrame, lake: Lake, home: Home) -> list[DataFile]:
    """Write a frame's rows as data files and return them. No reader sees them before a commit.

    Files of failed and of superseded task attempts are not returned.
    """
    written = frame.select(*home.schema.names).mapInArrow(_writer(lake, home), FILES)
    return [
        DataFile(row["path"], row["size"], row["day"], row["rows"], row["stats"]) for row in written.collect()
    ]


def _writer(lake: Lake, home: Home) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        with DataFileWriter(lake.table(home).filesystem, home) as writer:
            for batch in batches:
                writer.add(batch)
        yield pa.RecordBatch.from_pylist([vars(file) for file in writer.files], schema=arrow_schema(FILES))

    return write


def _reader(lake: Lake, home: Home, files: Sequence[DataFile]) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        filesystem = lake.table(home).filesystem
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file = files[number]
                with filesystem.open_input_file(file.path) as opened:
                    yield from _rows(pq.ParquetFile(opened), home, file.day)

    return read


def _rows(opened: pq.ParquetFile, home: Home, day: date) -> Batches:
    schema = arrow_schema(home.schema)
    existing = [name for name in opened.schema_arrow.names if name in schema.names and name != PARTITION]
    for batch in opened.iter_batches(BATCH, columns=existing):
        yield pa.RecordBatch.from_arrays([_column(batch, each, day) for each in schema], schema=schema)


def _column(batch: pa.RecordBatch, field: pa.Field, day: date) -> pa.Array:
    if field.name == PARTITION:
        return pa.repeat(pa.scalar(day, field.type), batch.num_rows)
    if field.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    return batch.column(field.name).cast(field.type)
