"""A load from end to end: files become jobs in order, and invalid rows are rejected."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand_pipeline.errors import LakeError, LoadError
from tests.pipeline.load.stage import Stage


def test_ndjson_lines_become_jobs_in_order(stage: Stage) -> None:
    path = stage.file(
        "jobs.ndjson",
        '{"kind": "welcome", "payload": {"n": 1, "text": "é\\u0000"}, "key": "a", "priority": 9, "delay": "10m"}',
        "",
        '{"kind": "report", "payload": [1.5, 12345678901234567890], "queue": "slow", "headers": {"t": "7"},'
        ' "personal": true}',
        '{"kind": "report", "key": ["order", 17], "retry": {"strategy": "fixed", "min": 5}, "timeout": 30,'
        ' "tenant": "acme"}',
    )

    result = stage.load(path)

    assert (result.created, result.replaced, result.ignored, result.rejected, result.fresh) == (
        3,
        0,
        0,
        0,
        True,
    )
    found = stage.jobs(
        "kind, queue, key, payload::text, priority, headers::text, personal, tenant, timeout, retry ->> 'strategy'"
    )
    assert found == [
        ("report", "slow", None, "[1.5,12345678901234567890]", 5, '{"t": "7"}', True, "", None, None),
        ("report", "default", "order/17", "null", 5, None, False, "acme", timedelta(seconds=30), "fixed"),
        ("welcome", "default", "a", '{"n":1,"text":"é\\u0000"}', 9, None, False, "", None, None),
    ]
    assert stage.staging() == []


def test_csv_and_parquet_become_jobs(stage: Stage) -> None:
    cells = stage.file(
        "jobs.csv",
        b"\xef\xbb\xbfkind,payload,key,priority,delay",
        'a,"{""n"": 1.10}",k1,7,',
        "b,,,,90s",
        "a,3,k2,,",
    )
    table = pa.table(
        {
            "kind": ["c", "c"],
            "payload": ['{"n": 1.10}', None],
            "run_at": pa.array([datetime(2099, 1, 1, tzinfo=UTC), None], pa.timestamp("ns", "UTC")),
            "headers": [None, '{"a": "b"}'],
        }
    )
    pq.write_table(table, stage.home / "jobs.parquet")

    assert stage.load(cells).created == 3
    assert stage.load(str(stage.home / "jobs.parquet")).created == 2

    found = stage.jobs("kind, key, payload::text, priority")
    assert found == [
        ("a", "k1", '{"n":1.1}', 7),
        ("a", "k2", "3", 5),
        ("c", None, "null", 5),
        ("b", None, "null", 5),
        ("c", None, '{"n": 1.10}', 5),
    ]
    assert stage.rows("select run_at from minutehand.jobs where kind = 'c' and headers is null") == [
        (datetime(2099, 1, 1, tzinfo=UTC),)
    ]


def test_large_file_is_split_and_read_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minutehand_pipeline.load.files.PIECE", 5000)
    lines = [json.dumps({"kind": "k", "key": f"k{n}", "payload": "x" * (n % 97)}) for n in range(500)]
    lines[250] = "broken"
    path = stage.file("jobs.ndjson", *lines)

    result = stage.load(path, rejects=stage.home / "rejects")

    assert (result.created, result.rejected) == (499, 1)
    assert [key for (key,) in stage.jobs("key")] == [f"k{n}" for n in range(500) if n != 250]
    assert json.loads((stage.home / "rejects").read_text())["line"] == 251


def test_rejected_rows_that_were_not_uploaded_are_written_again(stage: Stage) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "k"}', "broken")

    def fail() -> None:
        raise LakeError("denied")

    with pytest.raises(LakeError, match="denied"):
        stage.load(path, rejects=stage.home / "lost", on_rejects=fail)
    result = stage.load(path, rejects=stage.home / "rejects")

    assert (result.created, result.rejected, result.fresh) == (1, 1, False)
    assert json.loads((stage.home / "rejects").read_text())["line"] == 2
    assert stage.staging() == []


def test_replace_takes_last_and_ignore_takes_first_row(stage: Stage) -> None:
    stage.connection.execute(
        "select minutehand.enqueue('old', '0', key => 'a'), minutehand.enqueue('old', '0', key => 'z')"
    )
    first = stage.file(
        "1.ndjson", '{"kind": "k", "key": "a", "payload": 1}', '{"kind": "k", "key": "b", "payload": 1}'
    )
    second = stage.file(
        "2.ndjson", '{"kind": "k", "key": "b", "payload": 2}', '{"kind": "k", "key": "c", "queue": "q"}'
    )

    ignored = stage.load(first, second, load="i", on_conflict="ignore")
    after = stage.rows("select key, payload::text from minutehand.jobs order by key")
    replaced = stage.load(first, second, load="r")

    assert (ignored.created, ignored.replaced, ignored.ignored) == (2, 0, 2)
    assert after == [("a", "0"), ("b", "1"), ("c", "null"), ("z", "0")]
    assert (replaced.created, replaced.replaced, replaced.ignored) == (0, 3, 1)
    assert stage.rows("select key, payload::text, kind from minutehand.jobs order by key") == [
        ("a", "1", "k"),
        ("b", "2", "k"),
        ("c", "null", "k"),
        ("z", "0", "old"),
    ]


def test_raise_enters_nothing_if_a_key_is_taken(stage: Stage) -> None:
    stage.connection.execute("select minutehand.enqueue('old', key => 'a')")
    path = stage.file("1.ndjson", '{"kind": "k", "key": "a"}', '{"kind": "k", "key": "b"}', '{"kind": "k"}')

    with pytest.raises(
        LoadError, match="1 rows of the load have a key that an upcoming job or an earlier row has"
    ):
        stage.load(path, on_conflict="raise")

    assert stage.jobs("kind") == [("old",)] and stage.rows("select * from minutehand.loads") == []


def test_load_does_not_touch_a_running_job(stage: Stage) -> None:
    stage.connection.execute("select minutehand.enqueue('old', key => 'a')")
    stage.connection.execute(
        "update minutehand.jobs_live set ack = gen_random_uuid(), claimed = now(), attempts = 1"
    )
    path = stage.file("1.ndjson", '{"kind": "new", "key": "a"}')

    assert stage.load(path).created == 1
    assert sorted(stage.jobs("kind")) == [("new",), ("old",)]


def test_second_run_of_a_load_does_nothing(stage: Stage) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}', "x")

    first = stage.load(path)
    again = stage.load(path)
    named = stage.load(path, load="another name")

    assert (first.fresh, again.fresh, again.load, again.created, again.at) == (
        True,
        False,
        first.load,
        1,
        first.at,
    )
    assert named.fresh and len(stage.jobs()) == 2
    stage.file("jobs.ndjson", '{"kind": "a"}', '{"kind": "b"}')
    assert stage.load(path).fresh  # a changed file is another load


def test_load_without_rejects_keeps_the_rejects_file(stage: Stage) -> None:
    rejects = stage.home / "rejects"
    stage.load(stage.file("bad.ndjson", "broken"), rejects=rejects)

    assert stage.load(stage.file("good.ndjson", '{"kind": "k"}'), rejects=rejects).rejected == 0
    assert json.loads(rejects.read_text())["raw"] == "broken"


@pytest.mark.long
def test_million_parquet_rows_become_a_million_jobs(stage: Stage) -> None:
    rows = 1_000_000
    numbers = pa.array(range(rows))
    table = pa.table(
        {
            "kind": pa.array(["k"] * rows),
            "key": numbers.cast(pa.string()),
            "payload": numbers.cast(pa.string()),
        }
    )
    pq.write_table(table, stage.home / "million.parquet", row_group_size=250_000)

    result = stage.load(str(stage.home / "million.parquet"))

    assert result.created == rows
    assert stage.rows(
        "select count(*), count(distinct key), count(distinct run_at) from minutehand.jobs"
    ) == [(rows, rows, rows)]
    assert stage.rows(
        "select bool_and(key = payload::text), bool_and(run_at > before) from (select key, payload,"
        " run_at, lag(run_at::timestamptz, 1, '-infinity') over (order by key::bigint) as before"
        " from minutehand.jobs) j"
    ) == [(True, True)]
