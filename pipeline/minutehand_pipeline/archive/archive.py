"""Archive finished days from the queue to the lake, one by one, and drop them if requested."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from minutehand.database import Database
from minutehand.schema.migrate import check_schema
from minutehand_pipeline.archive.archiver import Archiver, Copy
from minutehand_pipeline.archive.closing import Closing, Day, list_days
from minutehand_pipeline.archive.decision import Action, DayResult, Decision, decide, execute
from minutehand_pipeline.archive.groups import Decided, group_days
from minutehand_pipeline.archive.ledger import reconcile
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.schemas import HOMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Retention of unreferenced files, for readers of an older version of the lake.
VACUUM_RETENTION = timedelta(days=7)

OnDay = Callable[[DayResult], None]


@dataclass(frozen=True, kw_only=True)
class ArchiveConfig:
    """What to archive, and where.

    Without `since` and `until` (both included), every day that is over and not in the lake is archived. `wait` is
    how long to wait for transactions that may still commit rows of a day. `readers` is how many sessions read from the
    database at the same time, from 1 to 64; by default as many as do not slow down the queue. `drop` drops a day once
    the lake has every row of it. `vacuum` deletes unreferenced files from the lake. `location` holds the options that
    tell Spark's tasks where the database is.
    """

    lake: Lake
    homes: tuple[str, ...] = tuple(HOMES)
    since: date | None = None
    until: date | None = None
    wait: timedelta = timedelta(0)
    readers: int | None = None
    drop: bool = False
    vacuum: bool = False
    dry_run: bool = False
    location: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the order of the days."""
        if self.since and self.until and self.since > self.until:
            raise InputError(f"since must not be after until, got {self.since} and {self.until}")


@dataclass(frozen=True, kw_only=True)
class ArchiveResult:
    """The result of each day, and how many unreferenced files were deleted."""

    days: tuple[DayResult, ...]
    vacuumed: int = 0


def archive(
    spark: "SparkSession | None",
    config: ArchiveConfig,
    *,
    archiver: Callable[..., Archiver] = Archiver,
    on_day: OnDay = lambda result: None,
) -> ArchiveResult:
    """Archive the days, oldest first, and call `on_day` after each. A dry run needs no Spark.

    Raises BusyError if another archive is running, LakeError if the lake belongs to another queue, and MismatchError
    if the written files differ from the database. Days that were archived before the error remain archived, and the
    next run continues from there.
    """
    with closing(Database(url_getter(config.location))) as database:
        check_schema(database)
        if spark is None or config.dry_run:
            return ArchiveResult(days=tuple(_plan(database, config, on_day)))
        worker = archiver(spark, config.lake, database, config.location, config.readers)
        with worker.locked():
            days = tuple(_archive_days(worker, config, on_day))
            return ArchiveResult(days=days, vacuumed=_vacuum(config) if config.vacuum else 0)


def _archive_days(archiver: Archiver, config: ArchiveConfig, on_day: OnDay) -> Iterator[DayResult]:
    for name in config.homes:
        table = config.lake.table(HOMES[name])
        number = reconcile(archiver.database, table)
        table.add_missing_columns()
        days = list_days(archiver.database, table.home, config.since, config.until)
        open_check = Closing(archiver.database, config.wait)
        decided = ((day, decide(archiver.database, open_check, day)) for day in days)
        for group in group_days(decided):
            for day, decision, copy in _copied(archiver, group):
                result = execute(archiver, day, decision, copy, number + 1, drop=config.drop)
                number = result.number or number
                on_day(result)
                yield result


def _copied(archiver: Archiver, group: list[Decided]) -> Iterator[tuple[Day, Decision, Copy | None]]:
    """Yield the days of a group, with the copy of each day that is archived."""
    if group[0][1].action is Action.ARCHIVE:
        copies = archiver.copy([day for day, _ in group], sum(decision.present for _, decision in group))
        yield from ((day, decision, copy) for (day, decision), copy in zip(group, copies, strict=True))
    else:
        yield from ((day, decision, None) for day, decision in group)


def _plan(database: Database, config: ArchiveConfig, on_day: OnDay) -> Iterator[DayResult]:
    """Yield what a run would do, without doing it."""
    for name in config.homes:
        home = HOMES[name]
        reconcile(database, config.lake.table(home), dry_run=True)
        days = list_days(database, home, config.since, config.until)
        open_check = Closing(database, timedelta(0))
        for day in days:
            decision = decide(database, open_check, day)
            result = DayResult(
                home=name,
                day=day.day,
                outcome=decision.action.value,
                rows=decision.rows,
                reason=decision.reason,
            )
            on_day(result)
            yield result


def _vacuum(config: ArchiveConfig) -> int:
    return sum(config.lake.table(HOMES[name]).vacuum(VACUUM_RETENTION) for name in config.homes)
