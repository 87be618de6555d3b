"""The window of a report, and its rows."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.report.config import DEFAULT_DAYS, MAX_DAYS, ReportConfig
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

    If the first day with jobs is later than that, the window begins there: costs of a month are scaled by
    the days of the window. Raises LakeError if the lake does not exist, and InputError if the window is too long.
    """
    lake = _lake(config)
    lake.check_exists()
    since, until = config.since, config.until
    if since is None or until is None:
        days = {file.day for file in lake.table(HOMES["jobs_done"]).files(since, until)}
        until = until or max(days, default=since or config.today)
        since = since or max(until - timedelta(days=DEFAULT_DAYS - 1), min(days, default=date.min))
    window = Window(since, until)
    if window.days > MAX_DAYS:
        raise InputError(
            f"the window has {window.days} days, but at most {MAX_DAYS} are allowed: pass a later --since"
        )
    return window


def read_rows(spark: SparkSession, config: ReportConfig, home: str, since: date, until: date) -> DataFrame:
    """Return the rows of a table of the lake from day `since` to `until`, of the report's queue if it is of one."""
    frame = read_lake(spark, _lake(config), HOMES[home], since=since, until=until)
    return frame if config.queue is None else frame.where(F.col("queue") == config.queue)


def _lake(config: ReportConfig) -> Lake:
    return Lake(config.lake, config.storage)
