"""Archive: carry what is finished, day by day, from the queue to the lake, and drop it there if that is asked for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from minutehand.database import Database
from minutehand.schema.migrate import check_schema
from minutehand_pipeline.archive.carry import Archiver
from minutehand_pipeline.archive.close import Closing, Day, days_over
from minutehand_pipeline.archive.ledger import note_seen, settle
from minutehand_pipeline.archive.sums import Sums, count_database
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.place import place_of
from minutehand_pipeline.statements import run as statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEP = timedelta(
    days=7
)  # how long what no commit has any more stays, for who reads an older version of the lake


@dataclass(frozen=True, kw_only=True)
class ArchiveConfig:
    """What is to be carried where.

    Without `since` and `until`, both included, it is every day that is over and not in the lake. `wait` is how long
    to wait for transactions that may still commit rows of a day. `drop` drops a day once the lake has every row of
    it. `vacuum` deletes from the lake what no commit has. `place` are the options of the source that say where the
    database is.
    """

    lake: Lake
    homes: tuple[str, ...] = tuple(HOMES)
    since: date | None = None
    until: date | None = None
    wait: timedelta = timedelta(0)
    drop: bool = False
    vacuum: bool = False
    dry_run: bool = False
    place: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse days that are none."""
        if self.since and self.until and self.since > self.until:
            raise InputError(f"since {self.since} is after until {self.until}")


@dataclass(frozen=True, kw_only=True)
class Carried:
    """What became of a day: `archived`, `known` (the lake had it), `empty`, `open`, or `would` in a dry run.

    `rows` is how many went to the lake, as batch `number`. `dropped` says what became of the day's partition where
    that was asked for: `dropped`, or `held`, `busy` or `large`, and it stayed. `why` is a sentence for people.
    """

    home: str
    day: date
    outcome: str
    rows: int = 0
    number: int | None = None
    dropped: str | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class ArchiveResult:
    """What became of each day, and how many files were deleted from the lake that nobody needs."""

    days: tuple[Carried, ...]
    vacuumed: int = 0


def run(
    spark: "SparkSession | None",
    config: ArchiveConfig,
    *,
    archiver: Callable[..., Archiver] = Archiver,
    told: Callable[[Carried], None] = lambda carried: None,
) -> ArchiveResult:
    """Carry the days, the oldest first, and call `told` after each; a dry run wants no Spark.

    Raises BusyError while another archive runs, LakeError where the lake is not this queue's, and DisagreeError where
    what was written is not what was there. What was carried until then stays carried; the next run goes on.
    """
    with closing(Database(place_of(config.place))) as database:
        check_schema(database)
        if spark is None or config.dry_run:
            return ArchiveResult(days=tuple(_looked(database, config, told)))
        carrier = archiver(spark, config.lake, database, config.place)
        with carrier.locked():
            days = tuple(_days(carrier, config, told))
            return ArchiveResult(days=days, vacuumed=_vacuumed(config) if config.vacuum else 0)


def _days(carrier: Archiver, config: ArchiveConfig, told: Callable[[Carried], None]) -> Iterator[Carried]:
    for name in config.homes:
        table = config.lake.table(HOMES[name])
        number = settle(carrier.database, table)
        table.adopt()
        days = days_over(carrier.database, table.home, config.since, config.until)
        closed = Closing(carrier.database, config.wait)
        for day in days:
            carried = _day(carrier, config, closed, day, number + 1)
            number = carried.number or number
            told(carried)
            yield carried


def _day(carrier: Archiver, config: ArchiveConfig, closed: Closing, day: Day, number: int) -> Carried:
    carried = Carried(home=day.home.name, day=day.day, outcome="open")
    if holder := closed.holder(day.ends):
        return replace(carried, why=f"{holder}, may still commit rows of it")
    carried = _carried(carrier, config, day, number)
    if not config.drop:
        return carried
    return _dropped(carrier, day, carried, number)


def _carried(carrier: Archiver, config: ArchiveConfig, day: Day, number: int) -> Carried:
    carried = Carried(home=day.home.name, day=day.day, outcome="known")
    count = count_database(carrier.database.connection, day.home, day.day)
    if count and _is_known(carrier.database, day, count):
        return carried
    if count == 0:
        note_seen(carrier.database, day.home, day.day, Sums())
        return replace(carried, outcome="empty")
    batch = carrier.carry(day, number)
    if batch is None:
        return carried
    return replace(carried, outcome="archived", rows=batch.written.rows, number=batch.number)


def _is_known(database: Database, day: Day, count: int) -> bool:
    """Whether the lake has as many rows of a day as there are, and these where the day has no partition.

    Such a day may have been dropped, and have others since, as many by chance.
    """
    if day.rows != count or day.identity is None or day.partitioned:
        return day.rows == count and day.identity is not None
    [there] = statement(database, "archive_same", home=day.home.name, day=day.day)
    return (there["rows"], int(there["identity"])) == (day.rows, day.identity)


def _dropped(carrier: Archiver, day: Day, carried: Carried, number: int) -> Carried:
    """Drop a day; where it has rows that the lake lacks, or the lake has others, those are carried first, once."""
    seen = _seen(carrier, day)
    if carrier.holds(day, seen) and (outcome := carrier.drop(day)) != "held":
        return replace(carried, dropped=None if outcome == "none" else outcome)
    batch = carrier.carry(day, (carried.number or number - 1) + 1)
    if batch is not None:
        carried = replace(
            carried, outcome="archived", rows=carried.rows + batch.written.rows, number=batch.number
        )
    outcome = carrier.drop(day)
    return replace(carried, dropped=None if outcome == "none" else outcome)


def _seen(carrier: Archiver, day: Day) -> Sums:
    [now] = days_over(carrier.database, day.home, day.day, day.day) or [day]
    return Sums(rows=now.rows or 0, identity=now.identity or 0)


def _looked(database: Database, config: ArchiveConfig, told: Callable[[Carried], None]) -> Iterator[Carried]:
    """Say what would be done, without doing any of it."""
    for name in config.homes:
        home = HOMES[name]
        settle(database, config.lake.table(home), dry_run=True)
        days = days_over(database, home, config.since, config.until)
        closed = Closing(database, timedelta(0))
        for day in days:
            carried = _would(database, closed, day)
            told(carried)
            yield carried


def _would(database: Database, closed: Closing, day: Day) -> Carried:
    carried = Carried(home=day.home.name, day=day.day, outcome="would")
    if holder := closed.holder(day.ends):
        return replace(carried, outcome="open", why=f"{holder}, may still commit rows of it")
    count = count_database(database.connection, day.home, day.day)
    if count == 0 or _is_known(database, day, count):
        return replace(carried, outcome="known" if count else "empty")
    return replace(carried, rows=max(0, count - (day.rows or 0)) or count)


def _vacuumed(config: ArchiveConfig) -> int:
    return sum(config.lake.table(HOMES[name]).vacuum(KEEP) for name in config.homes)
