"""Invalid files, lines and values are rejected one by one, with a reason."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand_pipeline.errors import InputError, LoadError
from tests.pipeline.load.stage import Stage


def test_too_many_rejects_enter_nothing_but_are_written(stage: Stage) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}', "x", "y")

    with pytest.raises(
        LoadError, match="2 rows were rejected, but at most 1 are allowed: nothing was enqueued"
    ):
        stage.load(path, max_rejects=1, rejects=stage.home / "rejects")

    assert stage.jobs() == [] and stage.staging() == [] and stage.rows("select * from minutehand.loads") == []
    assert len((stage.home / "rejects").read_text().splitlines()) == 2
    assert stage.load(path, max_rejects=2).created == 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "kind,color\na,red\n", "unknown field 'color'; expected some of kind, payload"),
        ("a.csv", "payload\n1\n", "must have a column named kind"),
        ("a.csv", "kind,kind\na,b\n", "must not have two columns with the same name"),
        (
            "a.csv",
            "kind,debounce\na,10s\n",
            "a load does not support the field 'debounce'; use minutehand enqueue --file",
        ),
        ("a.xml", "<a/>", "cannot tell the format of"),
        ("a.parquet", "PAR1 half of it", "is not a complete Parquet file"),
        ("a.parquet", "", "is not a complete Parquet file"),
    ],
)
def test_invalid_file_is_named_before_any_row_is_read(stage: Stage, name: str, text: str, says: str) -> None:
    good = stage.file("good.ndjson", '{"kind": "a"}')
    bad = stage.file(name, text, end="")

    with pytest.raises(InputError) as refused:
        stage.load(good, bad)

    assert says in str(refused.value) and bad in str(refused.value)
    assert stage.jobs() == []


def test_unsupported_parquet_file_enters_nothing(stage: Stage) -> None:
    table = pa.table({"kind": ["a"] * 50_000, "payload": ["1"] * 50_000})
    whole = stage.home / "whole.parquet"
    pq.write_table(table, whole)
    (stage.home / "half.parquet").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    pq.write_table(table.append_column("urgency", pa.array([1] * 50_000)), stage.home / "later.parquet")
    pq.write_table(pa.table({"kind": ["a"], "payload": [{"n": 1}]}), stage.home / "nested.parquet")

    for name, says in [
        ("half", "is not a complete Parquet file"),
        ("later", "unknown field 'urgency'"),
        ("nested", "payload has the unsupported type struct<n: int64>"),
    ]:
        with pytest.raises(InputError, match=says):
            stage.load(str(whole), str(stage.home / f"{name}.parquet"))

    assert stage.jobs() == []


def test_parquet_faults_are_reported_by_row(stage: Stage) -> None:
    table = pa.table(
        {
            "kind": ["a", "b", "c", "d", "9", "f"],
            "payload": ["1", "nope", '"\\ud800"', "1e999", "1", "9" * 4000],
            "delay": [1.0, 1.0, 1.0, 1.0, 1.0, float("nan")],
        }
    )
    pq.write_table(table, stage.home / "jobs.parquet", row_group_size=2)

    result = stage.load(str(stage.home / "jobs.parquet"), rejects=stage.home / "rejects")

    reasons = {
        each["line"]: each["reason"]
        for each in map(json.loads, (stage.home / "rejects").read_text().splitlines())
    }
    assert result.created == 1
    assert reasons[2].startswith("payload: not JSON")
    assert "lone surrogate" in reasons[3] and "not JSON" in reasons[4]
    assert reasons[5].startswith("kind must be 1 to 100") and reasons[6].startswith("run_at must be a time")


def test_empty_files_folders_and_patterns_are_read(stage: Stage) -> None:
    stage.file("in/empty.csv", end="")
    stage.file("in/header.csv", "kind,key")
    stage.file("in/deep/b.ndjson", '{"kind": "b"}')
    stage.file("in/a.ndjson", '{"kind": "a"}')
    stage.file("in/_SUCCESS", "")
    stage.file("in/.hidden.ndjson", "x")

    assert stage.load(str(stage.home / "in"), load="folder").created == 2
    assert stage.load(str(stage.home / "in" / "*.ndjson"), load="pattern").created == 1
    assert stage.load(str(stage.home / "in" / "empty.csv"), load="empty").created == 0
    assert [kind for (kind,) in stage.jobs("kind")] == ["a", "b", "a"]
    with pytest.raises(InputError, match="no file matches"):
        stage.load(str(stage.home / "nowhere"))


def test_rejects_file_must_not_be_a_loaded_file(stage: Stage) -> None:
    path = stage.file("in/jobs.ndjson", '{"kind": "a"}')

    with pytest.raises(InputError, match="--rejects must not name a file that is loaded"):
        stage.load(str(stage.home / "in"), rejects=Path(path))


def test_large_payload_is_loaded_if_allowed(stage: Stage) -> None:
    path = stage.file(
        "large.ndjson", json.dumps({"kind": "large", "payload": "é" * 5_000_000}, ensure_ascii=False)
    )

    assert stage.load(path, load="one", rejects=stage.home / "rejects").rejected == 1
    assert "payload must have at most 262144 bytes" in (stage.home / "rejects").read_text()
    stage.connection.execute("update minutehand.settings set max_payload = 16777216")
    assert stage.load(path, load="two").created == 1
    assert stage.jobs("octet_length(payload::text)") == [(10_000_002,)]


def test_invalid_parquet_value_rejects_its_row_only(stage: Stage) -> None:
    texts = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), pa.py_buffer(b"1\xff3")]
    )
    bad: dict[str, pa.Array] = {
        "payload": texts,
        "key": texts,
        "delay": pa.array([1, 2**60 + 1]),
        "run_at": pa.array([0, 36893488147420], pa.timestamp("s", "UTC")),
    }
    for name, column in bad.items():
        pq.write_table(pa.table({"kind": ["a", name], name: column}), stage.home / f"{name}.parquet")

    paths = [str(stage.home / f"{name}.parquet") for name in bad]
    result = stage.load(*paths, rejects=stage.home / "rejects")

    assert (result.created, result.rejected) == (4, 4)
    assert [kind for (kind,) in stage.jobs("kind")] == ["a"] * 4
    reasons = [json.loads(line) for line in (stage.home / "rejects").read_text().splitlines()]
    moment = "run_at must be a time in the years 1 to 9999"
    assert [each["reason"] for each in reasons] == ["not UTF-8", "not UTF-8", moment, moment]
