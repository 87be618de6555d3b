"""The window of a report, and its jobs and attempts."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.report.config import DEFAULT_DAYS, LOOK_BACK, MAX_DAYS, ReportConfig
from minutehand_pipeline.report.measured import measured_attempts, with_first_start
from minutehand_pipeline.schemas import HOMES


@dataclass(frozen=True)
class Window:
    """The UTC days from `since` to `until`, both included."""

    since: date
    until: date

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.until - self.since).days + 1

    @property
    def begin(self) -> datetime:
        """The start of the first day."""
        return datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC)


def choose_window(config: ReportConfig) -> Window:
    """Return the requested days, or by default the four weeks up to the last day that has jobs.

    Raises LakeError if the lake does not exist, and InputError if the window is too long.
    """
    lake = _lake(config)
    lake.check_exists()
    until = config.until
    if until is None:
        files = lake.table(HOMES["jobs_done"]).files(config.since)
        until = max((file.day for file in files), default=config.since or config.today)
    window = Window(config.since or until - timedelta(days=DEFAULT_DAYS - 1), until)
    if window.days > MAX_DAYS:
        raise InputError(
            f"the window has {window.days} days, but at most {MAX_DAYS} are allowed: pass a later --since"
        )
    return window


def count_rows(config: ReportConfig, window: Window) -> dict[str, int]:
    """Return the number of jobs and attempts in the window, of all queues, from the lake's log."""
    homes = {"jobs": HOMES["jobs_done"], "attempts": HOMES["attempts"]}
    return {
        name: sum(file.rows for file in _lake(config).table(home).files(window.since, window.until))
        for name, home in homes.items()
    }


def read_attempts(spark: SparkSession, config: ReportConfig, window: Window) -> DataFrame:
    """Return the attempts that ended in the window or some days before it, with their run times.

    The days before are needed for the first attempts of the window's jobs.
    """
    before = window.since - timedelta(days=LOOK_BACK)
    return measured_attempts(read_rows(spark, config, "attempts", before, window.until))


def in_window(attempts: DataFrame, window: Window) -> DataFrame:
    """Return the attempts that ended in the window."""
    return attempts.where(F.col("day") >= F.lit(window.since))


def read_jobs(spark: SparkSession, config: ReportConfig, window: Window, attempts: DataFrame) -> DataFrame:
    """Return the jobs that ended in the window, with their first starts; `with_wait` adds their waits."""
    return with_first_start(read_rows(spark, config, "jobs_done", window.since, window.until), attempts)


def read_rows(spark: SparkSession, config: ReportConfig, home: str, since: date, until: date) -> DataFrame:
    """Return the rows of a table of the lake from day `since` to `until`, of the report's queue if it is of one."""
    frame = read_lake(spark, _lake(config), HOMES[home], since=since, until=until)
    return frame if config.queue is None else frame.where(F.col("queue") == config.queue)


def _lake(config: ReportConfig) -> Lake:
    return Lake(config.lake, config.storage)
