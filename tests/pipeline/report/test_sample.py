"""The jobs of the lake that the advice is verified with."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.report.advice import advice_sentences, advise, read_sample
from minutehand_pipeline.report.advice.sample import MOST_OF_HOUR
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.reading import plan_days
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.report.workload import Workload
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.test_capacity import goal

WINDOW = Window(date(2026, 3, 30), date(2026, 3, 31))


def workload(of_noon: float = 3.0) -> Workload:
    """Return the workload of two days whose jobs are due at noon of the second one."""
    counts = np.zeros(2 * 1440)
    counts[36 * 60] = of_noon
    return Workload(counts, counts * 2.0, 1.0, 2.0, 2.0, 0.5)


@pytest.fixture
def config(spark: SparkSession, tmp_path: Path) -> ReportConfig:
    """A lake with three jobs that are due at noon, of which one ends on the next day, and one of the day before."""
    lake = Lake(str(tmp_path / "lake"))
    moments = ["03-31 12:00:00", "03-31 12:00:01", "03-31 12:00:02", "03-30 01:00:00"]
    ends = ["03-31 12:00:04", "03-31 12:00:05", "04-01 00:00:01", "03-30 01:00:05"]
    jobs = [{"run_at": at(due), "deleted": at(end)} for due, end in zip(moments, ends, strict=True)]
    attempts = [
        {"job": f"job{n}", "started": at(moments[n]), "ended": at(moments[n].replace(":0", ":1", 1))}
        for n in range(4)
    ]
    append(jobs_frame(spark, *jobs), lake, HOMES["jobs_done"], app="minutehand", number=1)
    append(attempts_frame(spark, *attempts), lake, HOMES["attempts"], app="minutehand", number=1)
    return ReportConfig(lake=lake.path, today=date(2026, 4, 2))


def test_sample_has_the_jobs_of_the_window(spark: SparkSession, config: ReportConfig) -> None:
    sample = read_sample(lambda: spark, config, WINDOW, workload(), plan_days(config, WINDOW))

    assert sample is not None and sample.hours == 0
    assert len(sample.rows) == 3  # not the job that ended after the window
    advice = advise(workload(), sample, goal(120))
    assert "Simulated: all " in advice_sentences(advice, goal(120), workload())[1]


def test_sample_of_too_many_jobs_is_not_read(spark: SparkSession, config: ReportConfig) -> None:
    many = workload(MOST_OF_HOUR + 1.0)

    assert read_sample(lambda: spark, config, WINDOW, many, plan_days(config, WINDOW)) is None
