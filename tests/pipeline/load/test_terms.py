"""The terms of a load: invalid ones are rejected, and jobs are spread over time. These tests run without Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.load import LoadConfig, check_config
from minutehand_pipeline.queue.terms import Terms, read_terms
from minutehand_pipeline.queue.writing import Copied, load_parameters

BEYOND = "the last job would be due after the year 9998"
LATE = datetime(9998, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"over": 0.0}, "over must be a duration above 0"),
        ({"over": -1.0}, "over must be a"),
        ({"over": 3e11}, BEYOND),
        ({"over": 7200.0, "start": LATE}, BEYOND),
        ({"rate": 1e-14}, BEYOND),
        ({"rate": 5e-324}, BEYOND),
        ({"rate": 0.0}, "rate must be above 0 and at most 1,000,000 jobs per second"),
        ({"rate": 1_000_001.0}, "rate must be above 0 and at most 1,000,000 jobs per second"),
        ({"rate": float("nan")}, "rate must be"),
    ],
)
def test_invalid_terms_are_rejected(terms: dict[str, Any], says: str) -> None:
    parameters = terms | ({"over": timedelta(seconds=terms["over"])} if "over" in terms else {})
    written = {name: f"{value.isoformat() if name == 'start' else value}" for name, value in terms.items()}

    with pytest.raises(InputError, match=says):
        check_config(LoadConfig(("jobs.csv",), **parameters))
    with pytest.raises(InputError, match=says):
        read_terms({"load": "l", **written})


@pytest.mark.parametrize(
    ("terms", "jobs", "spread"),
    [
        (Terms("l"), 10, None),
        (Terms("l", over=timedelta(seconds=60)), 40_000_000, timedelta(seconds=60)),
        (Terms("l", rate=600_000.0), 1_200_000, timedelta(seconds=2)),
        (Terms("l", rate=500.0), 0, timedelta()),
    ],
)
def test_spread_is_not_rounded(terms: Terms, jobs: int, spread: timedelta | None) -> None:
    assert load_parameters([Copied("a", {0: jobs // 2, 1: jobs - jobs // 2})], terms)["spread"] == spread


def test_rate_too_low_for_the_jobs_is_rejected() -> None:
    with pytest.raises(InputError, match=BEYOND):
        load_parameters([Copied("a", {0: 10_000})], Terms("l", rate=1e-9))


def test_unwritable_rejects_file_stops_the_load(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "rejects.ndjson"

    with pytest.raises(InputError, match="pass another --rejects"):
        check_config(LoadConfig(("jobs.csv",), rejects=nowhere))
    check_config(LoadConfig(("jobs.csv",), rejects=nowhere, dry_run=True))  # which writes no file
