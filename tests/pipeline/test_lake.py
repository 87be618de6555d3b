"""The lake shows committed rows once and completely, and no others."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.testing import assertDataFrameEqual

from minutehand_pipeline.errors import BusyError, InputError, LakeError
from minutehand_pipeline.lake import DataFile, Lake, frames
from minutehand_pipeline.lake.data_files import DataFileWriter
from minutehand_pipeline.lake.frames import append, read_lake
from minutehand_pipeline.schemas import HOMES, Home

pytestmark = pytest.mark.spark_floor

EVENTS = HOMES["events"]
MIDNIGHT = datetime(2026, 3, 29, tzinfo=UTC)  # a day of 23 hours in Berlin, of 24 here


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def events(spark: SparkSession, *moments: datetime, home: Home = EVENTS) -> DataFrame:
    rows = [
        {"day": moment.date(), "id": f"e{n}", "at": moment, "name": "done", "facts": 'é ☃ "\u2028'}
        for n, moment in enumerate(moments)
    ]
    return spark.createDataFrame(
        [tuple(row.get(name) for name in home.schema.names) for row in rows], home.schema
    )


def test_both_readers_return_exact_times(spark: SparkSession, lake: Lake) -> None:
    moments = [MIDNIGHT, MIDNIGHT + timedelta(hours=24, microseconds=-1), MIDNIGHT + timedelta(days=1)]
    frame = events(spark, *moments)

    assert append(frame, lake, EVENTS, app="t", number=1) == 3

    assertDataFrameEqual(read_lake(spark, lake, EVENTS), frame)
    assertDataFrameEqual(read_lake(spark, lake, EVENTS, until=MIDNIGHT.date()), events(spark, *moments[:2]))
    files = lake.table(EVENTS).files()
    of_an_object_store = spark.range(0, len(files), 1, len(files)).mapInArrow(
        frames._reader(lake, EVENTS, files), EVENTS.schema
    )
    assertDataFrameEqual(of_an_object_store, frame)


def test_missing_lake_has_no_rows_and_all_columns(spark: SparkSession, lake: Lake) -> None:
    for home in HOMES.values():
        frame = read_lake(spark, lake, home)

        assert (frame.schema, frame.count()) == (home.schema, 0)


def test_batch_numbers_are_committed_once_and_in_order(lake: Lake) -> None:
    table = lake.table(EVENTS)
    table.create()
    table.commit(data_files(lake), app="t", number=1)

    for number in (1, 3):
        with pytest.raises(LakeError, match=f"cannot commit batch {number} of t to .*: its last batch is 1"):
            table.commit(data_files(lake), app="t", number=number)
    table.commit(data_files(lake), app="another", number=1)

    assert (table.number("t"), table.number("another"), table.number("none")) == (1, 1, 0)
    assert len(table.files()) == 2


def test_one_of_several_concurrent_commits_succeeds(lake: Lake) -> None:
    """Some fail the check of the number, others the transaction; only both together fence."""
    lake.table(EVENTS).create()
    for number in range(1, 9):
        files = [data_files(lake) for _ in range(4)]

        def commit(mine: list[DataFile], number: int = number) -> str:
            try:
                lake.table(EVENTS).commit(mine, app="t", number=number)
            except (BusyError, LakeError) as error:
                return error.type
            return "committed"

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(commit, files)).count("committed") == 1

    assert len(lake.table(EVENTS).files()) == 8


def test_stale_handle_cannot_commit(lake: Lake) -> None:
    """The other run commits after the check of the number, so only the transaction can fence."""
    lake.table(EVENTS).create()

    def files() -> Iterator[DataFile]:
        # Read after the check.
        lake.table(EVENTS).commit(data_files(lake), app="t", number=1)
        yield from data_files(lake)

    with pytest.raises(BusyError, match="another run committed before batch 1 of t"):
        lake.table(EVENTS).commit(files(), app="t", number=1)
    assert len(lake.table(EVENTS).files()) == 1


def test_uncommitted_file_is_ignored_and_vacuumed(spark: SparkSession, lake: Lake) -> None:
    append(events(spark, MIDNIGHT), lake, EVENTS, app="t", number=1)
    [whole] = lake.table(EVENTS).files()
    folder = Path(lake.path, "events", whole.path).parent
    (folder / "half.parquet").write_bytes((folder / Path(whole.path).name).read_bytes()[:300])

    assert read_lake(spark, lake, EVENTS).count() == 1
    assert lake.table(EVENTS).vacuum(timedelta(0), dry_run=True) == 1
    assert lake.table(EVENTS).vacuum(timedelta(0)) == 1
    assert [path.name for path in folder.iterdir()] == [Path(whole.path).name]


def test_file_that_was_never_completed_is_vacuumed(spark: SparkSession, lake: Lake) -> None:
    append(events(spark, MIDNIGHT), lake, EVENTS, app="t", number=1)
    [whole] = lake.table(EVENTS).files()
    folder = Path(lake.path, "events", whole.path).parent
    (folder / "0b5e9c1a.parquet#1").write_bytes(b"PAR1")

    assert lake.table(EVENTS).vacuum(timedelta(days=7)) == 0
    assert lake.table(EVENTS).vacuum(timedelta(0), dry_run=True) == 1
    assert lake.table(EVENTS).vacuum(timedelta(0)) == 1
    assert [path.name for path in folder.iterdir()] == [Path(whole.path).name]


def test_older_lake_gets_missing_columns(spark: SparkSession, lake: Lake) -> None:
    older = replace(EVENTS, schema=T.StructType(EVENTS.schema.fields[:-2]))
    append(events(spark, MIDNIGHT, home=older), lake, older, app="t", number=1)
    before = read_lake(spark, lake, EVENTS)
    append(events(spark, MIDNIGHT + timedelta(hours=1)), lake, EVENTS, app="t", number=2)

    assert [row["facts"] for row in before.collect()] == [None]
    assert {row["facts"] for row in read_lake(spark, lake, EVENTS).collect()} == {None, 'é ☃ "\u2028'}
    assert deltalake.DeltaTable(f"{lake.path}/events").protocol().min_reader_version == 1


def test_newer_lake_is_read_but_not_written(spark: SparkSession, lake: Lake) -> None:
    newer = replace(
        EVENTS, schema=T.StructType([*EVENTS.schema.fields, T.StructField("mood", T.StringType())])
    )
    append(events(spark, MIDNIGHT, home=newer), lake, newer, app="t", number=1)

    assertDataFrameEqual(read_lake(spark, lake, EVENTS), events(spark, MIDNIGHT))
    with pytest.raises(LakeError, match="has the column mood, which a newer version of minutehand added"):
        append(events(spark, MIDNIGHT), lake, EVENTS, app="t", number=2)


def test_column_of_another_type_is_rejected(spark: SparkSession, lake: Lake) -> None:
    fields = [replace_type(field) if field.name == "name" else field for field in EVENTS.schema.fields]
    other = replace(EVENTS, schema=T.StructType(fields))
    lake.table(other).create()
    message = "column name of .* has type long, expected string"

    lake.table(other).commit(data_files(lake), app="t", number=1)
    for refused in (lambda: read_lake(spark, lake, EVENTS), lambda: lake.table(EVENTS).add_missing_columns()):
        with pytest.raises(LakeError, match=message):
            refused()


def replace_type(field: T.StructField) -> T.StructField:
    return T.StructField(field.name, T.LongType())


def test_erased_values_are_in_no_file_after_vacuum(spark: SparkSession, lake: Lake) -> None:
    append(events(spark, MIDNIGHT, MIDNIGHT), lake, EVENTS, app="t", number=1)
    table = lake.table(EVENTS)
    quoted = {"id": ["e0", "o'clock'; --"]}

    assert table.count_erasable(["facts", "name"], quoted) == 1
    days = {file.day for file in table.files()}
    assert table.erase(["facts", "name"], quoted, days) == 1
    assert table.erase(["facts", "name"], quoted, days) == 0
    table.vacuum(timedelta(0))

    assert table.number("t") == 1
    assert sorted((row["id"], row["facts"] is None) for row in read_lake(spark, lake, EVENTS).collect()) == [
        ("e0", True),
        ("e1", False),
    ]
    texts = [
        row for path in Path(lake.path).rglob("*.parquet") for row in pq.read_table(path)["facts"].to_pylist()
    ]
    assert len(texts) == 2 and set(texts) == {None, 'é ☃ "\u2028'}


def test_lake_stores_a_row_of_ten_megabytes(spark: SparkSession, lake: Lake) -> None:
    frame = events(spark, MIDNIGHT).selectExpr(
        *("repeat('x', 10000000) as facts" if name == "facts" else name for name in EVENTS.schema.names)
    )

    assert append(frame, lake, EVENTS, app="t", number=1) == 1
    assert read_lake(spark, lake, EVENTS).selectExpr("length(facts)").first() == (10_000_000,)


def test_lake_rejects_secrets_as_options() -> None:
    with pytest.raises(InputError, match="AWS_SECRET_ACCESS_KEY is a secret: set it in the environment"):
        Lake("s3://bucket/lake", {"AWS_SECRET_ACCESS_KEY": "x"})


def test_invalid_delta_log_is_reported(tmp_path: Path) -> None:
    table = Lake(str(tmp_path)).table(EVENTS)
    (tmp_path / "events" / "_delta_log").mkdir(parents=True)
    (tmp_path / "events" / "_delta_log" / "00000000000000000000.json").write_text("not json")

    with pytest.raises(LakeError, match=r"cannot use the lake's table .*/events"):
        _ = table.id


def data_files(lake: Lake) -> list[DataFile]:
    """Write a file of one row, as a task does."""
    schema = pa.schema(
        [("day", pa.date32()), *((name, pa.string()) for name in EVENTS.schema.names[1:])]
    ).set(2, pa.field("at", pa.timestamp("us", "UTC")))
    row: dict[str, Any] = {"day": date(2026, 3, 29), "id": "e", "at": MIDNIGHT}
    with DataFileWriter(lake.table(EVENTS).filesystem, EVENTS) as written:
        written.add(pa.RecordBatch.from_pylist([row], schema=schema))
    return written.files
