"""Reports that use the days which earlier reports have stored have the same numbers as those that read all days."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from minutehand_pipeline.archive.private import PRIVATE
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.lake.summaries import FOLDER, Summaries, delete_outdated
from minutehand_pipeline.prices import LIST
from minutehand_pipeline.report.config import ReportConfig, ReportResult
from minutehand_pipeline.report.report import make_report
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame

SECRET = "password is hunter"


def a_job(name: str, end: datetime, waited: float, state: str = "done") -> dict[str, Any]:
    due = end - timedelta(seconds=waited + 1)
    error = f'{{"type": "E", "message": "{SECRET}"}}' if state == "dead" else None
    return {"id": name, "run_at": due, "deleted": end, "state": state, "attempts": 2, "error": error}


def attempts_of(job: dict[str, Any]) -> list[dict[str, Any]]:
    """A failed attempt of 0.1 s right when the wait is over, and the last one."""
    begun = job["run_at"] + (job["deleted"] - job["run_at"] - timedelta(seconds=1))
    first = {"started": begun, "ended": begun + timedelta(seconds=0.1), "outcome": "retrying"}
    last = {"attempt": 2, "started": begun + timedelta(seconds=0.5), "ended": job["deleted"]}
    return [{"job": job["id"], "memory_mb": 512, "request": job["id"], **each} for each in (first, last)]


@pytest.fixture
def add(spark: SparkSession, tmp_path: Path) -> Callable[..., None]:
    """Add jobs with their attempts to the lake, as a batch of the archive."""
    lake = Lake(str(tmp_path / "lake"))

    def add(*jobs: dict[str, Any]) -> None:
        number = lake.table(HOMES["jobs_done"]).number("minutehand") + 1
        attempts = [attempt for job in jobs for attempt in attempts_of(job)]
        for home, frame in (
            ("jobs_done", jobs_frame(spark, *jobs)),
            ("attempts", attempts_frame(spark, *attempts)),
        ):
            append(frame, lake, HOMES[home], app="minutehand", number=number)

    return add


@pytest.fixture
def three_days(add: Callable[..., None], tmp_path: Path) -> ReportConfig:
    """A lake of three days; the first attempt of a job of the second one was the day before."""
    add(a_job("one", at("03-28 12:00:00"), 5), a_job("dead", at("03-28 13:00:00"), 70, "dead"))
    add(a_job("two", at("03-29 00:00:00.2"), 30), a_job("three", at("03-30 12:00:00"), 7))
    return ReportConfig(
        lake=str(tmp_path / "lake"), since=date(2026, 3, 28), until=date(2026, 3, 31), today=date(2026, 4, 2)
    )


def no_session() -> SparkSession:
    raise AssertionError("nothing has to be read")


def assert_same_numbers(result: ReportResult, other: ReportResult) -> None:
    assert result.tables.keys() == other.tables.keys()
    for name, rows in result.tables.items():
        assert len(rows) == len(other.tables[name]), name
        for row, expected in zip(rows, other.tables[name], strict=True):
            assert row == {
                column: pytest.approx(value) if isinstance(value, float) else value
                for column, value in expected.items()
            }, name


@pytest.mark.long
def test_only_changed_days_are_read(
    spark: SparkSession, three_days: ReportConfig, add: Callable[..., None]
) -> None:
    def check(days_read: int) -> ReportResult:
        result = make_report(lambda: spark, three_days)
        assert result.days_read == days_read
        return result

    first = check(3)
    waits = {row["day"].day: row["wait_p50"] for row in first.tables["days"]}
    assert waits == {28: 5.0, 29: 30.0, 30: 7.0, 31: None}
    add(a_job("new", at("03-31 12:00:00"), 9))
    assert check(1).summary["totals"]["jobs"] == 5
    # Its attempts may be those of jobs that ended on the two days after it.
    add(a_job("late", at("03-29 12:00:00"), 90))
    result = check(3)
    assert result.summary["totals"]["late"] == 2
    assert_same_numbers(result, make_report(lambda: spark, replace(three_days, read_all=True)))
    # Two days have several files.
    DeltaTable(f"{three_days.lake}/jobs").optimize.compact()
    assert_same_numbers(check(2), result)
    dearer = replace(three_days, prices=replace(LIST, request=1.0), target=0.5)
    assert make_report(no_session, dearer).summary["totals"]["cost"] > 1
    assert make_report(lambda: spark, replace(three_days, objective=6.0)).summary["totals"]["late"] == 5


def test_first_attempt_before_the_new_day_is_found(
    spark: SparkSession, three_days: ReportConfig, tmp_path: Path
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    # It failed on the 30th, and an operator moved it to the next day.
    failed = {"started": at("03-30 13:00:00"), "ended": at("03-30 13:00:01"), "outcome": "retrying"}
    append(attempts_frame(spark, {"job": "moved", **failed}), lake, HOMES["attempts"], app="test", number=1)
    make_report(lambda: spark, three_days)
    times = {"run_at": at("03-31 10:00:00"), "deleted": at("03-31 10:00:09")}
    last = {"attempt": 2, "started": at("03-31 10:00:07"), "ended": times["deleted"]}
    append(attempts_frame(spark, {"job": "moved", **last}), lake, HOMES["attempts"], app="test", number=2)
    moved = jobs_frame(spark, {"id": "moved", "attempts": 2, **times})
    append(moved, lake, HOMES["jobs_done"], app="test", number=1)

    result = make_report(lambda: spark, three_days)

    assert (result.days_read, result.tables["days"][-1]["wait_p50"]) == (1, 7.0)
    assert_same_numbers(result, make_report(lambda: spark, replace(three_days, read_all=True)))


def test_summary_that_is_deleted_meanwhile_is_left_out(tmp_path: Path) -> None:
    class Listed(Summaries):
        """Summaries whose list is older than the folder."""

        def names(self) -> list[str]:
            return ["2026-03-28-gone"]

    summaries = Listed(Lake(str(tmp_path)), "1-definition")

    assert summaries.read(summaries.names()) == {}
    summaries.delete(summaries.names())


def test_erased_days_are_read_again(spark: SparkSession, three_days: ReportConfig) -> None:
    lake = Lake(three_days.lake)
    assert SECRET in str(make_report(lambda: spark, three_days).tables["failures"])

    table = lake.table(HOMES["jobs_done"])
    table.erase(PRIVATE["jobs_done"], {"id": ["dead"]}, {file.day for file in table.files()})
    deleted = delete_outdated(lake)
    result = make_report(lambda: spark, three_days)

    assert deleted == 1 and result.days_read == 1
    assert SECRET not in str(result.tables["failures"])
    assert_same_numbers(result, make_report(lambda: spark, replace(three_days, read_all=True)))


def test_incomplete_summary_is_not_used(spark: SparkSession, three_days: ReportConfig) -> None:
    first = make_report(lambda: spark, three_days)
    stored = sorted(Path(three_days.lake, FOLDER).rglob("2026-03-29-*"))
    stored[0].write_bytes(stored[0].read_bytes()[:-30])

    result = make_report(lambda: spark, three_days)

    assert result.days_read == 1
    assert_same_numbers(result, first)
