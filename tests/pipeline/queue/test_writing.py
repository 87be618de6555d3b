"""Writing with the data source `minutehand`."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from minutehand.errors import MinutehandError
from minutehand_pipeline.errors import LoadError
from minutehand_pipeline.queue.source import QueueSource, register
from minutehand_pipeline.queue.terms import Terms
from minutehand_pipeline.queue.writing import QueueWriter
from tests.pipeline.load.stage import Stage, staged

pytestmark = pytest.mark.spark_floor


@pytest.fixture
def stage(spark, direct_database, tmp_path):
    register(spark)
    with staged(spark, direct_database, tmp_path) as made:
        yield made


def write(stage: Stage, frame: DataFrame, mode: str = "append", **options: object) -> None:
    texts = {name: str(value) for name, value in options.items()}
    frame.write.format("minutehand").options(**stage.location, **texts).mode(mode).save()


def test_frame_becomes_jobs_once_and_in_order(stage: Stage) -> None:
    frame = stage.spark.range(0, 1000, 1, 3).selectExpr(
        "'k' as kind",
        "cast(id as string) as key",
        "to_json(struct(id)) as payload",
        "'acme' as tenant",
        "id % 9 as priority",
    )
    start = datetime(2099, 1, 1, tzinfo=UTC)

    write(stage, frame, load="mine", over=1000, start=start.isoformat())
    write(stage, frame, load="mine", over=1000, start=start.isoformat())

    found = stage.rows(
        "select key, payload ->> 'id', tenant, priority, run_at from minutehand.jobs order by run_at"
    )
    assert found == [(str(n), str(n), "acme", n % 9, start + timedelta(seconds=n)) for n in range(1000)]
    assert stage.rows("select load, created from minutehand.loads") == [("mine", 1000)]
    assert stage.staging() == []


INVALID_WRITES: list[tuple[str, dict[str, Any], str]] = [
    ("select 'k' as kind", {}, "option load is missing"),
    ("select 'k' as kind", {"load": "l", "color": 1}, "unknown write option 'color'"),
    (
        "select 'k' as kind",
        {"load": "l", "on_conflict": "merge"},
        "on_conflict must be one of replace, ignore",
    ),
    ("select 'k' as kind", {"load": "l", "rate": 1, "over": 1}, "expected rate or over, got both"),
    ("select 'k' as kind", {"load": "l", "start": "2099-01-01T00:00"}, "start has no offset"),
    ("select 'k' as kind", {"load": "l", "mode": "overwrite"}, "a queue cannot be overwritten"),
    ("select 1 as payload", {"load": "l"}, "the DataFrame must have a column named kind"),
    ("select 'k' as kind, 1 as color", {"load": "l"}, "unknown column 'color'"),
    ("select '9' as kind", {"load": "l"}, "kind must be 1 to 100 letters"),
    (
        "select 'k' as kind, '{' as payload",
        {"load": "l"},
        "the payload of a row is not valid JSON",
    ),
    (
        "select 'k' as kind, '{' as retry",
        {"load": "l"},
        "the retry or headers of a row is not valid JSON",
    ),
    (
        "select 'k' as kind, concat('\"', repeat('x', 262143), '\"') as payload",
        {"load": "l"},
        "the payload is too large: payload must have at most 262144 bytes",
    ),
    ("select 'k' as kind, -1.5D as delay", {"load": "l"}, "delay must not be negative"),
    (
        "select 'k' as kind, 1D as delay, timestamp'2099-01-01' as run_at",
        {"load": "l"},
        "expected run_at or delay, got both",
    ),
    ("select 'k' as kind", {"load": "l", "over": 0}, "over must be a duration above 0"),
    (
        "select 'k' as kind, '[1]' as headers",
        {"load": "l"},
        "headers must be an object of strings",
    ),
]


def write_as_a_task(stage: Stage, frame: DataFrame, mode: str = "append", **options: object) -> None:
    """Write with the calls that Spark makes, in this process, because each write of Spark takes seconds."""
    source = QueueSource({**stage.location, **{name: str(value) for name, value in options.items()}})
    writer = source.writer(frame.schema, mode == "overwrite")
    try:
        writer.commit([writer.write(iter(frame.toArrow().to_batches()))])
    except Exception:
        writer.abort([None])
        raise


def test_invalid_write_is_rejected_and_leaves_nothing(stage: Stage) -> None:
    for query, options, says in INVALID_WRITES:
        with pytest.raises(MinutehandError, match=re.escape(says)):
            write_as_a_task(stage, stage.spark.sql(query), **options)

        assert stage.jobs() == [] and stage.staging() == [], says


@pytest.mark.parametrize(
    ("payload", "options", "says"),
    [
        ("1", {}, "InputError: option load is missing"),
        ("{", {"load": "l"}, "PayloadError: the payload of a row is not valid JSON"),
    ],
    ids=["driver", "task"],
)
def test_error_reaches_the_user_through_spark(
    stage: Stage, payload: str, options: dict[str, str], says: str
) -> None:
    with pytest.raises(PySparkException, match=re.escape(says)):
        write(stage, stage.spark.sql(f"select 'k' as kind, '{payload}' as payload"), **options)

    assert stage.jobs() == [] and stage.staging() == []


def test_missing_staging_table_is_not_reported_as_a_wrong_schema(stage: Stage) -> None:
    schema = StructType().add("kind", "string")
    terms = Terms(load="mine", run="00000000-0000-0000-0000-000000000001")
    writer = QueueWriter(terms, schema, lambda: stage.address.url)

    with pytest.raises(LoadError, match="the staging table of this load is missing"):
        writer.write(iter([pa.record_batch({"kind": ["a"]})]))
