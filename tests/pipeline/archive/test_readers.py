"""An erasure keeps the files of running reports, and an incomplete run has its own exit code."""

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from minutehand.cli.exits import INCOMPLETE
from minutehand.database import connect
from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.cli.archive import archive
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.lake.readers import FOLDER, MAX_AGE, count_readers, marked_reader
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import DAY, Stage

JOBS = ("jobs_done",)


def test_erasure_keeps_files_that_a_report_reads(stage: Stage) -> None:
    stage.fill(20)
    stage.archive(homes=JOBS)
    config = EraseConfig(lake=stage.lake, key="key-4", location=stage.location)
    frame = read_lake(stage.spark, stage.lake, HOMES["jobs_done"])

    with marked_reader(stage.lake):
        first = erase(config)
        read = frame.count()
    second = erase(config)

    assert (first.readers, first.vacuumed, read) == (1, 0, 20)
    assert (second.readers, second.vacuumed) == (0, 1)
    assert count_readers(stage.lake) == 0


def test_mark_of_a_killed_reader_expires(tmp_path: Path) -> None:
    marks, now = tmp_path / FOLDER, datetime.now(UTC).timestamp()
    marks.mkdir()
    for name, age in (("killed", MAX_AGE.total_seconds() + 60), ("running", 60)):
        (marks / name).touch()
        os.utime(marks / name, (now - age, now - age))

    assert count_readers(Lake(str(tmp_path))) == 1
    assert [mark.name for mark in marks.iterdir()] == ["running"]


def test_archive_that_cannot_drop_has_its_own_exit_code(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", stage.database.url)
    stage.fill(20)
    stage.archive(homes=JOBS)
    arguments = [
        stage.lake.path,
        "--table",
        "jobs_done",
        "--day",
        DAY.isoformat(),
        "--drop",
        "--readers",
        "2",
        "-o",
        "json",
    ]

    def run() -> Any:
        return CliRunner().invoke(archive, arguments, standalone_mode=False, catch_exceptions=False)

    with connect(stage.database.url) as other, other.transaction(force_rollback=True):
        other.execute("insert into minutehand.jobs (kind, deleted) values ('late', '2026-03-31 12:00+00')")
        busy = run()
    dropped = run()

    assert (busy.return_value, dropped.return_value) == (INCOMPLETE, 0)
    assert '"busy"' in busy.stdout and '"dropped"' in dropped.stdout


def test_only_files_of_the_requested_days_are_opened(stage: Stage) -> None:
    stage.fill(40, days=3)
    stage.archive(homes=("jobs_done",))
    home, day = HOMES["jobs_done"], date(2026, 3, 30)

    chosen = read_lake(stage.spark, stage.lake, home, since=day, until=day)
    plan = str(
        read_lake(stage.spark, stage.lake, home)
        .where(f"day = date'{day}'")
        ._jdf.queryExecution()
        .executedPlan()
        .toString()
    )

    assert ["day=2026-03-30" in file for file in chosen.inputFiles()] == [True]
    [filters] = [line for line in plan.splitlines() if "PartitionFilters" in line]
    assert "PartitionFilters: [isnotnull(day" in filters and "(day" in filters
