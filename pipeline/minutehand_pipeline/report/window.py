"""The window of a report: which days of the lake it is of, and what it reads of them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.report.config import DAYS, LOOK_BACK, MOST_DAYS, ReportConfig
from minutehand_pipeline.report.measured import measured_attempts, measured_jobs, starts
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.lake import read_lake


@dataclass(frozen=True)
class Window:
    """The UTC days from `since` to `until`, both included."""

    since: date
    until: date

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.until - self.since).days + 1

    @property
    def begin(self) -> datetime:
        """The moment at which it begins."""
        return datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC)


def window_of(config: ReportConfig) -> Window:
    """Return the days to report on: those said, else the last four weeks up to the last day that has jobs.

    Raises LakeError for a folder that does not exist, InputError for a window that is too long.
    """
    lake = _lake(config)
    check_lake(lake)
    until = config.until
    if until is None:
        files = lake.table(HOMES["jobs_done"]).files(config.since)
        until = max((file.day for file in files), default=config.since or config.today)
    window = Window(config.since or until - timedelta(days=DAYS - 1), until)
    if window.days > MOST_DAYS:
        raise InputError(
            f"the window has {window.days} days, and may have {MOST_DAYS} at most: say a later --since"
        )
    return window


def check_lake(lake: Lake) -> None:
    """Raise LakeError for a folder that does not exist, which is rather a wrong path than an empty lake."""
    if lake.local and not Path(lake.path).is_dir():
        raise LakeError(
            f"there is no folder {lake.path}: say the lake that `minutehand pipeline archive` writes to"
        )


def rows_of(config: ReportConfig, window: Window) -> dict[str, int]:
    """Return how many jobs and attempts the lake has in the window, as its log says, of all queues."""
    homes = {"jobs": HOMES["jobs_done"], "attempts": HOMES["attempts"]}
    return {
        name: sum(file.rows for file in _lake(config).table(home).files(window.since, window.until))
        for name, home in homes.items()
    }


def read_attempts(spark: SparkSession, config: ReportConfig, window: Window) -> DataFrame:
    """Return the attempts that ended in the window, measured."""
    return measured_attempts(_read(spark, config, "attempts", window.since, window.until))


def read_jobs(spark: SparkSession, config: ReportConfig, window: Window) -> DataFrame:
    """Return the jobs that ended in the window, measured; their first attempts may have ended some days before it."""
    before = window.since - timedelta(days=LOOK_BACK)
    began = starts(_read(spark, config, "attempts", before, window.until))
    return measured_jobs(_read(spark, config, "jobs_done", window.since, window.until), began)


def _read(spark: SparkSession, config: ReportConfig, home: str, since: date, until: date) -> DataFrame:
    frame = read_lake(spark, _lake(config), HOMES[home], since=since, until=until)
    return frame if config.queue is None else frame.where(F.col("queue") == config.queue)


def _lake(config: ReportConfig) -> Lake:
    return Lake(config.lake, config.storage)
