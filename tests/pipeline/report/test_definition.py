"""A change of what stored summaries mean needs a new VERSION, or reports would add up different things."""

import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.lake.summaries import FOLDER, Summaries
from minutehand_pipeline.report import measuring
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.measuring import VERSION
from minutehand_pipeline.report.report import make_report
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame

# The digest of the summaries of the history below, by VERSION.
DIGESTS = {1: "e3a95666ce02f176"}
STATES = ("done", "dead", "cancelled", "expired")
OUTCOMES = ("done", "dead", "snoozed", "released", "lapsed")
SECOND = timedelta(seconds=1)


def history(number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a job and its attempts; jobs differ in state, tenant, kind, and in what is missing."""
    name, state = f"job{number}", STATES[number % 4]
    due = at("03-30 08:00:00") + number * timedelta(minutes=73)
    begun, times = due + (number % 7) * 11 * SECOND, 1 + number % 3
    facts = {"tenant": f"t{number % 5}", "queue": f"q{number % 2}", "kind": f"k{number % 3}"}
    error = json.dumps({"type": "E", "message": f"row {number} is missing"}) if state == "dead" else None
    attempts: list[dict[str, Any]] = [
        {
            "job": name,
            "attempt": attempt,
            "started": begun + attempt * 20 * SECOND,
            "ended": begun + (attempt * 20 + 1 + number % 9) * SECOND,
            "outcome": "retrying" if attempt < times else OUTCOMES[number % 5],
            "memory_mb": 512 if number % 4 else None,
            "request": f"request{number // 3}" if number % 2 else None,
            "error": error,
            **facts,
        }
        for attempt in range(1, times + 1)
    ]
    deleted = attempts[-1]["ended"]
    job = {"id": name, "run_at": due, "deleted": deleted, "state": state, "attempts": times, "error": error}
    return job | facts, attempts


@pytest.mark.long
@pytest.mark.parametrize("limits", [{}, {"ROWS_PER_TASK": 0}, {"ROWS_PER_TASK": 0, "MAX_BROADCAST": 0}])
def test_changed_definition_has_a_new_version(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    # The plan depends on the number of rows, and the summaries do not.
    for name, rows_at_most in limits.items():
        monkeypatch.setattr(measuring, name, rows_at_most)
    rows = [history(number) for number in range(40)]
    lake = Lake(str(tmp_path / "lake"))
    jobs = jobs_frame(spark, *(job for job, _ in rows))
    attempts = attempts_frame(spark, *(each for _, found in rows for each in found))
    append(jobs, lake, HOMES["jobs_done"], app="test", number=1)
    append(attempts, lake, HOMES["attempts"], app="test", number=1)

    make_report(lambda: spark, ReportConfig(lake=lake.path))

    [definition] = [path.name for path in (tmp_path / "lake" / FOLDER).iterdir()]
    summaries = Summaries(lake, definition)
    days = [tables for _, tables in sorted(summaries.read(summaries.names()).items())]
    stored = [
        (name, sorted(json.dumps(rounded(row), default=str) for row in table.to_pylist()))
        for tables in days
        for name, table in sorted(tables.items())
    ]
    digest = sha256(json.dumps(stored).encode()).hexdigest()[:16]
    assert DIGESTS.get(VERSION) == digest, (
        f"the summaries have changed: raise VERSION in measuring.py, and add {{VERSION: {digest!r}}} to DIGESTS"
    )


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Round numbers, whose last digits depend on the order in which they are added."""
    return {name: float(f"{value:.9g}") if isinstance(value, float) else value for name, value in row.items()}
