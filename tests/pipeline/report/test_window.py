"""The days that a report covers by default: four weeks, or all days of a lake that is younger."""

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.window import choose_window
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.report.conftest import at, jobs_frame

FIRST, LAST = date(2026, 3, 9), date(2026, 3, 30)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of three weeks, with jobs on its first and last day."""
    folder = tmp_path_factory.mktemp("lake")
    jobs = jobs_frame(spark, *({"deleted": at(f"{day:%m-%d} 12:00:00")} for day in (FIRST, LAST)))
    append(jobs, Lake(str(folder)), HOMES["jobs_done"], app="minutehand", number=1)
    return folder


@pytest.mark.parametrize(
    ("given", "since", "until"),
    [
        ({}, FIRST, LAST),
        ({"until": date(2026, 3, 20)}, FIRST, date(2026, 3, 20)),
        # Four weeks.
        ({"until": date(2026, 4, 10)}, date(2026, 3, 14), date(2026, 4, 10)),
        ({"until": date(2026, 2, 28)}, date(2026, 2, 1), date(2026, 2, 28)),
        ({"since": date(2026, 3, 1)}, date(2026, 3, 1), LAST),
    ],
)
def test_window_covers_no_days_before_the_lake(
    lake: Path, given: dict[str, date], since: date, until: date
) -> None:
    window = choose_window(ReportConfig(lake=str(lake), today=date(2026, 3, 31), **given))  # type: ignore[arg-type]

    assert (window.since, window.until) == (since, until)


def test_window_of_an_empty_lake_has_four_weeks(tmp_path: Path) -> None:
    Lake(str(tmp_path)).table(HOMES["jobs_done"]).create()
    window = choose_window(ReportConfig(lake=str(tmp_path), today=date(2026, 3, 31)))

    assert (window.since, window.until) == (date(2026, 3, 4), date(2026, 3, 31))
