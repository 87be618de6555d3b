"""Invalid lines are rejected like by `minutehand enqueue --file`."""

import json
from pathlib import Path
from typing import Any

from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.model.enqueued import Rejected
from minutehand.model.parse_job import new_job
from minutehand_pipeline.load.rows import RAW
from tests.pipeline.load.stage import DETERMINISTIC, Stage

# Lines of a file. A load must treat them like `enqueue --file` does.
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
]


def error_of_enqueue(database: Database, line: dict[str, Any]) -> str | None:
    """Return the error of `enqueue --file` for a line, or None."""
    try:
        became = next(enqueue_many([new_job(line, None)], connection=database))
    except ValueError as error:
        return str(error)
    return str(became.error) if isinstance(became, Rejected) else None


def test_lines_are_treated_like_enqueue_file(stage: Stage) -> None:
    database = Database(stage.address.url)
    wanted = {number: error_of_enqueue(database, line) for number, line in enumerate(LINES, 1)}
    stored = sorted(stage.rows(f"select {DETERMINISTIC} from minutehand.jobs"), key=repr)
    stage.connection.execute("delete from minutehand.jobs")
    path = stage.file("lines.ndjson", *map(json.dumps, LINES))

    result = stage.load(path, rejects=stage.home / "rejects")

    rejects = [json.loads(line) for line in (stage.home / "rejects").read_text().splitlines()]
    # Spark's expressions do not repeat what was received.
    reasons = {each["line"]: each["reason"].partition(", got ")[0] for each in rejects}
    refused = {
        number: reason.partition(", got ")[0] for number, reason in wanted.items() if reason is not None
    }
    assert reasons == refused
    assert (result.created, result.rejected) == (len(LINES) - len(refused), len(refused))
    assert sorted(stage.rows(f"select {DETERMINISTIC} from minutehand.jobs"), key=repr) == stored
    assert {each["source"] for each in rejects} == {path}
    assert {each["line"]: each["raw"] for each in rejects} == {
        number: json.dumps(LINES[number - 1])[:RAW] for number in refused
    }
    database.close()


def test_invalid_lines_are_rejected_with_their_text(stage: Stage) -> None:
    cells = stage.file(
        "jobs.csv",
        "kind,payload,key",
        "a,1,k1",
        'b,"unclosed,k2',
        "c,1,k3,more",
        "d",
        'e,"x"y,k4',
        b"f,\xff,k5",
        "g,{nojson},k6",
        "",
        "h,2,k7",
    )
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
    assert rejects[1]["reason"] == "expected 3 cells as in the header, got 4"
    assert rejects[4]["reason"] == "not UTF-8"
