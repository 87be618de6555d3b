"""The terms of a load without Spark: what is refused before anything is begun, and the time that jobs are given."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.run import Config, check_config
from minutehand_pipeline.sources.terms import terms_of
from minutehand_pipeline.sources.writing import Copied, Terms, asked

BEYOND = "the last job comes after the year 9998"
LATE = datetime(9998, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"over": 0.0}, "over is a duration above zero"),
        ({"over": -1.0}, "over is a"),
        ({"over": 3e11}, BEYOND),
        ({"over": 7200.0, "start": LATE}, BEYOND),
        ({"rate": 1e-14}, BEYOND),
        ({"rate": 5e-324}, BEYOND),
        ({"rate": 0.0}, "a rate is above zero and at most a million a second"),
        ({"rate": 1_000_001.0}, "a rate is above zero and at most a million a second"),
        ({"rate": float("nan")}, "rate is"),
    ],
)
def test_terms_that_make_no_sense_are_refused_by_load_and_by_the_source(
    terms: dict[str, Any], says: str
) -> None:
    said = terms | ({"over": timedelta(seconds=terms["over"])} if "over" in terms else {})
    written = {name: f"{value.isoformat() if name == 'start' else value}" for name, value in terms.items()}

    with pytest.raises(InputError, match=says):
        check_config(Config(("jobs.csv",), **said))
    with pytest.raises(InputError, match=says):
        terms_of({"load": "l", **written})


@pytest.mark.parametrize(
    ("terms", "jobs", "spread"),
    [
        (Terms("l"), 10, None),
        (Terms("l", over=timedelta(seconds=60)), 40_000_000, timedelta(seconds=60)),
        (Terms("l", rate=600_000.0), 1_200_000, timedelta(seconds=2)),
        (Terms("l", rate=500.0), 0, timedelta()),
    ],
)
def test_the_time_of_all_jobs_is_told_and_no_rounded_step(
    terms: Terms, jobs: int, spread: timedelta | None
) -> None:
    assert asked([Copied("a", {0: jobs // 2, 1: jobs - jobs // 2})], terms)["spread"] == spread


def test_a_rate_that_is_too_low_for_so_many_jobs_is_refused() -> None:
    with pytest.raises(InputError, match=BEYOND):
        asked([Copied("a", {0: 10_000})], Terms("l", rate=1e-9))


def test_a_load_whose_rejects_could_not_be_written_is_refused_before_it_begins(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "rejects.ndjson"

    with pytest.raises(InputError, match="say another --rejects"):
        check_config(Config(("jobs.csv",), rejects=nowhere))
    check_config(Config(("jobs.csv",), rejects=nowhere, dry_run=True))  # that one writes none
