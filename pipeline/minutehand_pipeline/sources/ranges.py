"""What each task reads: ranges of pages of the days' partitions, so that the tasks' shares are about equal."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from minutehand.database import sql
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.schemas import Home

PAGES_A_TASK = 8192  # 64 MiB; each task is a connection, which takes Postgres and the driver some 50 ms
MOST_TASKS = 200

# The partitions of a home and their pages. An empty one is nobody's task: what a snapshot shows is in pages by then.
PARTITIONS = """
select c.relname as name, pg_relation_size(c.oid) / current_setting('block_size')::bigint as pages
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
 where i.inhparent = to_regclass('minutehand.' || %(home)s) order by c.relname
"""
RELATION = """
select c.relname as name, pg_relation_size(c.oid) / current_setting('block_size')::bigint as pages
  from pg_class c where c.oid = to_regclass('minutehand.' || %(relation)s)
"""


@dataclass(frozen=True)
class Wanted:
    """What is asked for: a home, its columns, the days from `since` to `until`, both included, or one relation."""

    home: Home
    columns: tuple[str, ...]
    since: date | None = None
    until: date | None = None
    relation: str | None = None

    def __post_init__(self) -> None:
        """Refuse a relation that is no day of this home; what a partition is called is not the reader's to say."""
        if self.relation is not None and not re.fullmatch(
            rf"{self.home.name}_([0-9]{{8}}|default)", self.relation
        ):
            raise InputError(
                f"relation is a day of {self.home.name}, as {self.home.name}_20260131, or its default"
            )


@dataclass(frozen=True)
class Pages:
    """Pages of a relation from `first` on, to `last` exclusive; None is its end, wherever that is when it is read."""

    relation: str
    first: int
    last: int | None

    @property
    def day(self) -> date | None:
        """The day that the relation's name says; None of a default one."""
        digits = self.relation[-8:]
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:])) if digits.isdigit() else None


def relations(connection: Any, wanted: Wanted) -> list[tuple[str, int]]:
    """Return the partitions that may have rows of what is wanted, and how many pages each has."""
    asked = {"home": wanted.home.name, "relation": wanted.relation}
    found = connection.execute(RELATION if wanted.relation else PARTITIONS, asked).fetchall()
    if wanted.relation and not found:
        raise InputError(f"there is no {wanted.relation} in this database")
    return [(name, pages) for name, pages in found if pages and (wanted.relation or _overlaps(name, wanted))]


def share(found: Sequence[tuple[str, int]], tasks: int | None) -> list[tuple[Pages, ...]]:
    """Cut partitions into so many shares of about as many pages; small ones are put together.

    The last range of each partition has no end, for rows that came after its pages were counted.
    """
    total = sum(pages for _, pages in found)
    tasks = tasks or min(max(1, -(-total // PAGES_A_TASK)), MOST_TASKS)
    room = max(1, -(-total // tasks))
    shares: list[list[Pages]] = [[]]
    left = room
    for name, pages in found:
        first = 0
        while first < pages:
            last = min(first + left, pages)
            shares[-1].append(Pages(name, first, last if last < pages else None))
            left -= last - first
            first = last
            if left == 0:
                shares.append([])
                left = room
    return [tuple(each) for each in shares if each]


def query(wanted: Wanted, pages: Pages, expressions: dict[str, str]) -> str:
    """Return the SELECT of some pages.

    It goes through the parent, which everyone may read as its policies have it, and whose other days are pruned by the
    bounds of this one. Of a default partition, which has no bounds, the rows say where they are. A relation that was
    named, which may be detached, is asked by its name.
    """
    through = wanted.relation is None
    parent = sql.Identifier("minutehand", "jobs" if wanted.home.name == "jobs_done" else wanted.home.name)
    text = sql.SQL("select {} from {} where {}").format(
        sql.SQL(", ").join(
            sql.SQL("{} as {}").format(sql.SQL(expressions[name]), sql.Identifier(name))
            for name in wanted.columns
        ),
        parent if through else sql.Identifier("minutehand", pages.relation),
        sql.SQL(" and ").join(_conditions(wanted, pages, through)),
    )
    return text.as_string(None)


def _conditions(wanted: Wanted, pages: Pages, through: bool) -> Iterator[sql.Composable]:
    dated = sql.Identifier(wanted.home.dated)
    yield sql.SQL("ctid >= {}::tid").format(sql.Literal(f"({pages.first},0)"))
    if pages.last is not None:
        yield sql.SQL("ctid < {}::tid").format(sql.Literal(f"({pages.last},0)"))
    if through and wanted.home.name == "jobs_done":
        yield sql.SQL("deleted is not null")
    if through and pages.day is None:
        yield sql.SQL("tableoid = {}::regclass").format(sql.Literal(f"minutehand.{pages.relation}"))
    for day, bound in _bounds(wanted, pages, through):
        yield sql.SQL(bound).format(dated, sql.Literal(f"{day} 00:00+00"))


def _bounds(wanted: Wanted, pages: Pages, through: bool) -> Iterator[tuple[date, str]]:
    since, until = (pages.day, pages.day) if through and pages.day else (wanted.since, wanted.until)
    if since is not None:
        yield since, "{} >= {}::timestamptz"
    if until is not None:
        yield until + timedelta(days=1), "{} < {}::timestamptz"


def _overlaps(name: str, wanted: Wanted) -> bool:
    day = Pages(name, 0, None).day
    return day is None or ((wanted.since or day) <= day <= (wanted.until or day))
