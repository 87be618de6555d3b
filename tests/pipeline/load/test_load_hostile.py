"""What a load is given that it should not be: each file, line and value is refused by itself, in a sentence."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.model.enqueued import Rejected
from minutehand.model.parse_job import new_job
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.rows import RAW
from tests.pipeline.load.stage import SAID, Stage

# Each as a line says it; what `enqueue --file` makes of the same line is what a load has to make of it.
LINES: list[dict[str, Any]] = [
    {"kind": "ok"},
    {"kind": "9to5"},
    {"kind": "a..b"},
    {"kind": "line\n"},
    {"kind": "k" * 101},
    {"kind": None},
    {"kind": 5},
    {"kind": "k", "queue": "-x"},
    {"kind": "k", "queue": "q" * 101},
    {"kind": "k", "key": ""},
    {"kind": "k", "key": "é" * 513},
    {"kind": "k", "key": "é" * 512},
    {"kind": "k", "key": "nul\0"},
    {"kind": "k", "key": True},
    {"kind": "k", "priority": 10},
    {"kind": "k", "priority": 0},
    {"kind": "k", "priority": "high"},
    {"kind": "k", "max_attempts": 0},
    {"kind": "k", "max_attempts": 1_000_001},
    {"kind": "k", "timeout": 0},
    {"kind": "k", "timeout": "25h"},
    {"kind": "k", "timeout": "24h"},
    {"kind": "k", "delay": -1},
    {"kind": "k", "delay": "soon"},
    {"kind": "k", "delay": 5, "run_at": "2099-01-01T00:00Z"},
    {"kind": "k", "run_at": "2099-01-01T00:00"},
    {"kind": "k", "run_at": "tomorrow"},
    {"kind": "k", "tenant": "-x"},
    {"kind": "k", "tenant": "a:b@c"},
    {"kind": "k", "headers": {"a": 1}},
    {"kind": "k", "headers": ["a"]},
    {"kind": "k", "headers": {"a": "x" * 8200}},
    {"kind": "k", "headers": {"a": "nul\0"}},
    {"kind": "k", "retry": {"strategy": "random"}},
    {"kind": "k", "retry": {"min": 10, "max": 5}},
    {"kind": "k", "retry": {"max": "2d", "jitter": False}},
    {"kind": "k", "personal": "yes"},
    {"kind": "k", "payload": "x" * 300_000},
    {"kind": "k", "payload": "\ud800"},
    {"kind": "k", "payload": "nul\0"},
    {"kind": "k", "color": "red"},
]  # fmt: skip


def told_by_enqueue(database: Database, line: dict[str, Any]) -> str | None:
    """Why `enqueue --file` refuses a line, if it does."""
    try:
        became = next(enqueue_many([new_job(line, None)], connection=database))
    except ValueError as error:
        return str(error)
    return str(became.error) if isinstance(became, Rejected) else None


def test_a_line_is_refused_with_the_words_of_enqueue_or_becomes_the_very_same_job(stage: Stage) -> None:
    database = Database(stage.address.url)
    wanted = {number: told_by_enqueue(database, line) for number, line in enumerate(LINES, 1)}
    kept = sorted(stage.rows(f"select {SAID} from minutehand.jobs"), key=repr)
    stage.connection.execute("delete from minutehand.jobs")
    path = stage.file("lines.ndjson", *map(json.dumps, LINES))

    result = stage.load(path, rejects=stage.home / "rejects")

    rejects = [json.loads(line) for line in (stage.home / "rejects").read_text().splitlines()]
    told = {each["line"]: each["reason"] for each in rejects}
    refused = {number: reason for number, reason in wanted.items() if reason is not None}
    assert told == refused
    assert (result.created, result.rejected) == (len(LINES) - len(refused), len(refused))
    assert sorted(stage.rows(f"select {SAID} from minutehand.jobs"), key=repr) == kept
    assert {each["source"] for each in rejects} == {path}
    assert {each["line"]: each["raw"] for each in rejects} == {
        number: json.dumps(LINES[number - 1])[:RAW] for number in refused
    }
    database.close()


def test_broken_lines_are_told_with_what_stands_there_and_the_others_go_in(stage: Stage) -> None:
    cells = stage.file(
        "jobs.csv", "kind,payload,key", "a,1,k1", 'b,"unclosed,k2', "c,1,k3,more", "d", 'e,"x"y,k4', b"f,\xff,k5",
        "g,{nojson},k6", "", "h,2,k7",
    )  # fmt: skip
    lines = stage.file(
        "jobs.ndjson", '{"kind": "i"}', '{"kind": "j"', "[]", b'{"kind": "\xfe"}', "NaN", '{"kind":"l"}x'
    )

    result = stage.load(cells, lines, rejects=stage.home / "rejects")

    assert (result.created, result.rejected) == (3, 11)
    assert [kind for (kind,) in stage.jobs("kind")] == ["a", "h", "i"]
    rejects = [json.loads(line) for line in (stage.home / "rejects").read_text().splitlines()]
    assert [(Path(each["source"]).name, each["line"]) for each in rejects] == [
        ("jobs.csv", n) for n in (3, 4, 5, 6, 7, 8)
    ] + [("jobs.ndjson", n) for n in (2, 3, 4, 5, 6)]
    assert rejects[0]["raw"] == 'b,"unclosed,k2' and rejects[1]["raw"] == "c,1,k3,more"
    assert rejects[1]["reason"] == "4 cells, and the header has 3"
    assert rejects[4]["reason"] == "not UTF-8"


def test_too_many_rejects_enter_nothing_and_are_told_all_the_same(stage: Stage) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}', "x", "y")

    with pytest.raises(InputError, match="2 rows were rejected, and 1 may be: nothing was enqueued"):
        stage.load(path, most_rejects=1, rejects=stage.home / "rejects")

    assert stage.jobs() == [] and stage.staging() == [] and stage.rows("select * from minutehand.loads") == []
    assert len((stage.home / "rejects").read_text().splitlines()) == 2
    assert stage.load(path, most_rejects=2).created == 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "kind,colour\na,red\n", "no field is called 'colour'; they are kind, payload"),
        ("a.csv", "payload\n1\n", "has no column kind"),
        ("a.csv", "kind,kind\na,b\n", "names a column twice"),
        ("a.csv", "kind,debounce\na,10s\n", "a load has no field 'debounce'; minutehand enqueue --file has"),
        ("a.xml", "<a/>", "its ending tells no format"),
        ("a.parquet", "PAR1 half of it", "is no whole Parquet file"),
        ("a.parquet", "", "is no whole Parquet file"),
    ],
)
def test_a_file_that_cannot_be_a_loads_is_named_before_anything_is_read(
    stage: Stage, name: str, text: str, says: str
) -> None:
    good = stage.file("good.ndjson", '{"kind": "a"}')
    bad = stage.file(name, text, end="")

    with pytest.raises(InputError) as told:
        stage.load(good, bad)

    assert says in str(told.value) and bad in str(told.value)
    assert stage.jobs() == []


def test_a_parquet_file_from_the_future_or_cut_in_half_enters_nothing(stage: Stage) -> None:
    table = pa.table({"kind": ["a"] * 50_000, "payload": ["1"] * 50_000})
    whole = stage.home / "whole.parquet"
    pq.write_table(table, whole)
    (stage.home / "half.parquet").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    pq.write_table(table.append_column("urgency", pa.array([1] * 50_000)), stage.home / "later.parquet")
    pq.write_table(pa.table({"kind": ["a"], "payload": [{"n": 1}]}), stage.home / "nested.parquet")

    for name, says in [
        ("half", "is no whole Parquet file"),
        ("later", "no field is called 'urgency'"),
        ("nested", "payload is struct<n: int64>, which cannot be read"),
    ]:
        with pytest.raises(InputError, match=says):
            stage.load(str(whole), str(stage.home / f"{name}.parquet"))

    assert stage.jobs() == []


def test_faults_in_columns_of_parquet_are_told_by_row(stage: Stage) -> None:
    table = pa.table(
        {
            "kind": ["a", "b", "c", "d", "9", "f"],
            "payload": ["1", "nope", '"\\ud800"', "1e999", "1", "9" * 4000],
            "delay": [1.0, 1.0, 1.0, 1.0, 1.0, float("nan")],
        }
    )
    pq.write_table(table, stage.home / "jobs.parquet", row_group_size=2)

    result = stage.load(str(stage.home / "jobs.parquet"), rejects=stage.home / "rejects")

    told = {
        each["line"]: each["reason"]
        for each in map(json.loads, (stage.home / "rejects").read_text().splitlines())
    }
    assert result.created == 1
    assert told[2].startswith("payload: not JSON")
    assert "lone surrogate" in told[3] and "not JSON" in told[4]
    assert told[5].startswith("kind must be 1 to 100") and told[6].startswith("run_at must be a moment")


def test_empty_files_folders_and_patterns_are_read_for_what_they_are(stage: Stage) -> None:
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
    with pytest.raises(InputError, match="names no file"):
        stage.load(str(stage.home / "nowhere"))


def test_rejects_are_not_written_over_what_is_read(stage: Stage) -> None:
    path = stage.file("in/jobs.ndjson", '{"kind": "a"}')

    with pytest.raises(InputError, match="--rejects names a file that is read"):
        stage.load(str(stage.home / "in"), rejects=Path(path))


def test_a_payload_of_ten_megabytes_goes_in_where_the_database_allows_it(stage: Stage) -> None:
    path = stage.file(
        "large.ndjson", json.dumps({"kind": "large", "payload": "é" * 5_000_000}, ensure_ascii=False)
    )

    assert stage.load(path, load="one", rejects=stage.home / "rejects").rejected == 1
    assert "payload must have at most 262144 bytes" in (stage.home / "rejects").read_text()
    stage.connection.execute("update minutehand.settings set max_payload = 16777216")
    assert stage.load(path, load="two").created == 1
    assert stage.jobs("octet_length(payload::text)") == [(10_000_002,)]


def test_one_bad_value_of_parquet_is_rejected_and_its_neighbours_go_in(stage: Stage) -> None:
    texts = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), pa.py_buffer(b"1\xff3")]
    )
    bad: dict[str, pa.Array] = {
        "payload": texts, "key": texts, "delay": pa.array([1, 2**60 + 1]),
        "run_at": pa.array([0, 36893488147420], pa.timestamp("s", "UTC")),
    }  # fmt: skip
    for name, column in bad.items():
        pq.write_table(pa.table({"kind": ["a", name], name: column}), stage.home / f"{name}.parquet")

    paths = [str(stage.home / f"{name}.parquet") for name in bad]
    result = stage.load(*paths, rejects=stage.home / "rejects")

    assert (result.created, result.rejected) == (4, 4)
    assert [kind for (kind,) in stage.jobs("kind")] == ["a"] * 4
    told = [json.loads(line) for line in (stage.home / "rejects").read_text().splitlines()]
    moment = "run_at must be a moment in the years 1 to 9999"
    assert [each["reason"] for each in told] == ["not UTF-8", "not UTF-8", moment, moment]
