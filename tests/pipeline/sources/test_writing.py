"""The data source `minutehand`, written to, as from anybody's notebook."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame

from minutehand_pipeline.sources.queue import register
from tests.pipeline.load.stage import Stage, staged


@pytest.fixture
def stage(spark, direct_database, tmp_path):
    register(spark)
    with staged(spark, direct_database, tmp_path) as made:
        yield made


def write(stage: Stage, frame: DataFrame, mode: str = "append", **options: object) -> None:
    said = {name: str(value) for name, value in options.items()}
    frame.write.format("minutehand").options(**stage.place, **said).mode(mode).save()


def test_a_frame_becomes_jobs_once_and_in_the_order_of_its_partitions(stage: Stage) -> None:
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


@pytest.mark.parametrize(
    ("query", "options", "says"),
    [
        ("select 'k' as kind", {}, "name the load, by which a second run of it is known"),
        ("select 'k' as kind", {"load": "l", "colour": 1}, "no option of writing is called 'colour'"),
        ("select 'k' as kind", {"load": "l", "on_conflict": "merge"}, "on_conflict of a load must be replace, ignore"),
        ("select 'k' as kind", {"load": "l", "rate": 1, "over": 1}, "say rate or over, not both"),
        ("select 'k' as kind", {"load": "l", "start": "2099-01-01T00:00"}, "start has no offset"),
        ("select 'k' as kind", {"load": "l", "mode": "overwrite"}, "a queue is appended to"),
        ("select 1 as payload", {"load": "l"}, "the frame has no column kind"),
        ("select 'k' as kind, 1 as color", {"load": "l"}, "a job has no field 'color'"),
        ("select '9' as kind", {"load": "l"}, "kind must be 1 to 100 letters"),
        ("select 'k' as kind, '{' as payload", {"load": "l"}, "PayloadError: the payload of a row is not JSON"),
        ("select 'k' as kind, '{' as retry", {"load": "l"}, "PayloadError: the retry or headers of a row is not JSON"),
        (
            "select 'k' as kind, concat('\"', repeat('x', 262143), '\"') as payload", {"load": "l"},
            "PayloadError: the payload is too large: payload must have at most 262144 bytes",
        ),
        ("select 'k' as kind, -1.5D as delay", {"load": "l"}, "delay must not be negative"),
        (
            "select 'k' as kind, 1D as delay, timestamp'2099-01-01' as run_at", {"load": "l"},
            "set run_at or delay, not both",
        ),
        ("select 'k' as kind", {"load": "l", "over": 0}, "over is a duration above zero"),
        ("select 'k' as kind, '[1]' as headers", {"load": "l"}, "headers must be an object of strings"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_said_and_leaves_nothing(
    stage: Stage, query: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(Exception, match=re.escape(says)):
        write(stage, stage.spark.sql(query), **options)

    assert stage.jobs() == [] and stage.staging() == []
