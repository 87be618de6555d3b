"""Merge the small files of days, left by late rows and parallel tasks. The rows do not change."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date

from minutehand.database import Database
from minutehand.schema.migrate import check_schema
from minutehand_pipeline.archive.ledger import reconcile
from minutehand_pipeline.archive.lock import archive_lock
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import DAYS_AT_ONCE, Lake
from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.schemas import HOMES

# Files of at least this size are not merged.
SMALL = 128 << 20  # bytes


@dataclass(frozen=True, kw_only=True)
class CompactConfig:
    """The lake, and from which number of small files of a table on, at least two, a day is compacted."""

    lake: Lake
    files: int = 8
    dry_run: bool = False
    location: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the number of files."""
        if self.files < 2:
            raise InputError(f"files must be an integer of at least 2, got {self.files}")


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """What was done in a table of the lake: the days, and their small files before and after."""

    home: str
    days: int
    before: int
    after: int


def compact(config: CompactConfig) -> list[Compacted]:
    """Compact the days, and return what was done in each table.

    The old files remain for readers of an older version, until `archive --vacuum` deletes them after a week, or an
    erasure at once. Raises BusyError if an archive is running, and LakeError if nothing was archived.
    """
    with closing(Database(url_getter(config.location))) as database:
        check_schema(database)
        if not any(config.lake.table(home).exists for home in HOMES.values()):
            raise LakeError(f"{config.lake.path} is not a lake: nothing was archived there")
        if config.dry_run:
            return [_planned(name, _found(config, name)) for name in HOMES]
        with archive_lock(database):
            for home in HOMES.values():
                reconcile(database, config.lake.table(home))
            return [_compact(config, name) for name in HOMES]


def _compact(config: CompactConfig, name: str) -> Compacted:
    found = _found(config, name)
    days, table = sorted(found), config.lake.table(HOMES[name])
    for first in range(0, len(days), DAYS_AT_ONCE):
        table.compact(days[first : first + DAYS_AT_ONCE], SMALL)
    small = _small_files(config, name)
    return Compacted(
        home=name,
        days=len(days),
        before=sum(map(len, found.values())),
        after=sum(len(small.get(day, ())) for day in days),
    )


def _planned(name: str, found: Mapping[date, list[int]]) -> Compacted:
    """Return what a run would do at best: some files fit into no other."""
    sizes = found.values()
    return Compacted(home=name, days=len(found), before=sum(map(len, sizes)), after=sum(map(_merged, sizes)))


def _found(config: CompactConfig, name: str) -> dict[date, list[int]]:
    """Return the days to compact, and the sizes of their small files."""
    small = _small_files(config, name)
    return {
        day: sizes
        for day, sizes in small.items()
        if len(sizes) >= config.files and _merged(sizes) < len(sizes)
    }


def _merged(sizes: list[int]) -> int:
    """Return how many files the small ones become at best."""
    return -(-sum(sizes) // SMALL)


def _small_files(config: CompactConfig, name: str) -> dict[date, list[int]]:
    found: dict[date, list[int]] = defaultdict(list)
    for file in config.lake.table(HOMES[name]).files():
        if file.size < SMALL:
            found[file.day].append(file.size)
    return found
