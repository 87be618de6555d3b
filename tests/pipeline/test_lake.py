"""The lake: what is committed is there once and whole, what is not is not there, and what is newer is told from it."""

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
from minutehand_pipeline.lake import DataFile, Lake
from minutehand_pipeline.schemas import HOMES, Home
from minutehand_pipeline.sources import lake as sources
from minutehand_pipeline.sources.data_files import Written
from minutehand_pipeline.sources.lake import append, read_lake

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


def test_what_is_written_is_read_to_the_microsecond_by_both_readers_in_its_utc_day(
    spark: SparkSession, lake: Lake
) -> None:
    moments = [MIDNIGHT, MIDNIGHT + timedelta(hours=24, microseconds=-1), MIDNIGHT + timedelta(days=1)]
    frame = events(spark, *moments)

    assert append(frame, lake, EVENTS, app="t", number=1) == 3

    assertDataFrameEqual(read_lake(spark, lake, EVENTS), frame)
    assertDataFrameEqual(read_lake(spark, lake, EVENTS, until=MIDNIGHT.date()), events(spark, *moments[:2]))
    files = lake.table(EVENTS).files()
    of_an_object_store = spark.range(0, len(files), 1, len(files)).mapInArrow(
        sources._reader(lake, EVENTS, files), EVENTS.schema
    )
    assertDataFrameEqual(of_an_object_store, frame)


def test_a_lake_that_is_not_there_has_no_rows_and_all_columns(spark: SparkSession, lake: Lake) -> None:
    for home in HOMES.values():
        frame = read_lake(spark, lake, home)

        assert (frame.schema, frame.count()) == (home.schema, 0)


def test_a_number_is_committed_once_and_after_the_one_before(lake: Lake) -> None:
    table = lake.table(EVENTS)
    table.create()
    table.commit(data_files(lake), app="t", number=1)

    for number in (1, 3):
        with pytest.raises(
            LakeError, match=f"is at batch 1 of t, so that batch {number} cannot be committed"
        ):
            table.commit(data_files(lake), app="t", number=number)
    table.commit(data_files(lake), app="another", number=1)

    assert (table.number("t"), table.number("another"), table.number("none")) == (1, 1, 0)
    assert len(table.files()) == 2


def test_of_many_who_commit_a_number_at_once_one_does(lake: Lake) -> None:
    """Some find it there, some are refused by the transaction's number: what fences is both together."""
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


def test_a_handle_that_is_older_than_anothers_commit_is_refused(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number's check was passed before the other committed: now only the transaction is a fence."""
    lake.table(EVENTS).create()
    table = lake.table(EVENTS)
    held = table._open()
    lake.table(EVENTS).commit(data_files(lake), app="t", number=1)
    monkeypatch.setattr(table, "_open", lambda: held)

    with pytest.raises(BusyError, match="another run was quicker than batch 1 of t"):
        table.commit(data_files(lake), app="t", number=1)


def test_a_half_written_file_in_the_folder_is_nobodys_row(spark: SparkSession, lake: Lake) -> None:
    append(events(spark, MIDNIGHT), lake, EVENTS, app="t", number=1)
    [whole] = lake.table(EVENTS).files()
    folder = Path(lake.path, "events", whole.path).parent
    (folder / "half.parquet").write_bytes((folder / Path(whole.path).name).read_bytes()[:300])

    assert read_lake(spark, lake, EVENTS).count() == 1
    assert lake.table(EVENTS).vacuum(timedelta(0), dry_run=True) == 1
    assert lake.table(EVENTS).vacuum(timedelta(0)) == 1
    assert [path.name for path in folder.iterdir()] == [Path(whole.path).name]


def test_an_older_lake_gains_the_columns_that_came_later(spark: SparkSession, lake: Lake) -> None:
    older = replace(EVENTS, schema=T.StructType(EVENTS.schema.fields[:-2]))
    append(events(spark, MIDNIGHT, home=older), lake, older, app="t", number=1)
    before = read_lake(spark, lake, EVENTS)
    append(events(spark, MIDNIGHT + timedelta(hours=1)), lake, EVENTS, app="t", number=2)

    assert [row["facts"] for row in before.collect()] == [None]
    assert {row["facts"] for row in read_lake(spark, lake, EVENTS).collect()} == {None, 'é ☃ "\u2028'}
    assert deltalake.DeltaTable(f"{lake.path}/events").protocol().min_reader_version == 1


def test_a_lake_from_the_future_is_read_and_not_written(spark: SparkSession, lake: Lake) -> None:
    newer = replace(
        EVENTS, schema=T.StructType([*EVENTS.schema.fields, T.StructField("mood", T.StringType())])
    )
    append(events(spark, MIDNIGHT, home=newer), lake, newer, app="t", number=1)

    assertDataFrameEqual(read_lake(spark, lake, EVENTS), events(spark, MIDNIGHT))
    with pytest.raises(LakeError, match="has the column mood, which this version does not know"):
        append(events(spark, MIDNIGHT), lake, EVENTS, app="t", number=2)


def test_a_column_of_another_type_is_refused_by_who_reads_and_by_who_writes(
    spark: SparkSession, lake: Lake
) -> None:
    fields = [replace_type(field) if field.name == "name" else field for field in EVENTS.schema.fields]
    other = replace(EVENTS, schema=T.StructType(fields))
    lake.table(other).create()
    sentence = "has the column name as long, and this version knows it as string"

    lake.table(other).commit(data_files(lake), app="t", number=1)
    for refused in (lambda: read_lake(spark, lake, EVENTS), lambda: lake.table(EVENTS).adopt()):
        with pytest.raises(LakeError, match=sentence):
            refused()


def replace_type(field: T.StructField) -> T.StructField:
    return T.StructField(field.name, T.LongType())


def test_what_is_erased_is_in_no_file_any_more(spark: SparkSession, lake: Lake) -> None:
    append(events(spark, MIDNIGHT, MIDNIGHT), lake, EVENTS, app="t", number=1)
    table = lake.table(EVENTS)
    quoted = {"id": ["e0", "o'clock'; --"]}

    assert table.would_erase(["facts", "name"], quoted) == 1
    assert table.erase(["facts", "name"], quoted) == 1
    assert table.erase(["facts", "name"], quoted) == 0
    table.vacuum(timedelta(0))

    assert table.number("t") == 1
    assert sorted((row["id"], row["facts"] is None) for row in read_lake(spark, lake, EVENTS).collect()) == [
        ("e0", True), ("e1", False),
    ]  # fmt: skip
    texts = [
        row for path in Path(lake.path).rglob("*.parquet") for row in pq.read_table(path)["facts"].to_pylist()
    ]
    assert len(texts) == 2 and set(texts) == {None, 'é ☃ "\u2028'}


def test_a_row_of_ten_megabytes_is_a_row(spark: SparkSession, lake: Lake) -> None:
    frame = events(spark, MIDNIGHT).selectExpr(
        *("repeat('x', 10000000) as facts" if name == "facts" else name for name in EVENTS.schema.names)
    )

    assert append(frame, lake, EVENTS, app="t", number=1) == 1
    assert read_lake(spark, lake, EVENTS).selectExpr("length(facts)").first() == (10_000_000,)


def test_a_secret_is_no_option_of_a_lake() -> None:
    with pytest.raises(InputError, match="AWS_SECRET_ACCESS_KEY is a secret: say it in the environment"):
        Lake("s3://bucket/lake", {"AWS_SECRET_ACCESS_KEY": "x"})


def test_a_folder_that_is_no_lake_is_told_in_a_sentence(tmp_path: Path) -> None:
    table = Lake(str(tmp_path)).table(EVENTS)
    (tmp_path / "events" / "_delta_log").mkdir(parents=True)
    (tmp_path / "events" / "_delta_log" / "00000000000000000000.json").write_text("not json")

    with pytest.raises(LakeError, match=r"the lake's table .*/events cannot be used"):
        _ = table.id


def data_files(lake: Lake) -> list[DataFile]:
    """A file of one row, as a task writes it."""
    schema = pa.schema(
        [("day", pa.date32()), *((name, pa.string()) for name in EVENTS.schema.names[1:])]
    ).set(2, pa.field("at", pa.timestamp("us", "UTC")))
    row: dict[str, Any] = {"day": date(2026, 3, 29), "id": "e", "at": MIDNIGHT}
    with Written(lake.table(EVENTS).filesystem, EVENTS) as written:
        written.add(pa.RecordBatch.from_pylist([row], schema=schema))
    return written.files
