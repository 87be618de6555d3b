"""Split the days' partitions into ranges of pages, so that tasks get about equal amounts of work."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from minutehand.database import sql
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.schemas import Home

# 64 MiB. Each task opens a connection, which costs Postgres and the driver about 50 ms.
PAGES_PER_TASK = 8192
MAX_TASKS = 200

# The partitions of a home and their pages. An empty one needs no task: rows that a snapshot shows are already in pages.
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
class Selection:
    """A home, its columns, and the days from `since` to `until` (both included) or one relation."""

    home: Home
    columns: tuple[str, ...]
    since: date | None = None
    until: date | None = None
    relation: str | None = None

    def __post_init__(self) -> None:
        """Check the relation's name, which becomes part of a statement."""
        if self.relation is not None and not re.fullmatch(
            rf"{self.home.name}_([0-9]{{8}}|default)", self.relation
        ):
            raise InputError(
                f"relation must be a day of {self.home.name}, such as {self.home.name}_20260131, or "
                f"{self.home.name}_default, got {self.relation!r}"
            )


@dataclass(frozen=True)
class Pages:
    """Pages of a relation from `first` to before `last`. None is the end of the relation when it is read."""

    relation: str
    first: int
    last: int | None

    @property
    def day(self) -> date | None:
        """The day in the relation's name, or None for a default partition."""
        digits = self.relation[-8:]
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:])) if digits.isdigit() else None


def find_relations(connection: Any, selection: Selection) -> list[tuple[str, int]]:
    """Return the partitions that may have selected rows, and the number of pages of each."""
    parameters = {"home": selection.home.name, "relation": selection.relation}
    found = connection.execute(RELATION if selection.relation else PARTITIONS, parameters).fetchall()
    if selection.relation and not found:
        raise InputError(f"the database has no relation {selection.relation}")
    return [
        (name, pages) for name, pages in found if pages and (selection.relation or _overlaps(name, selection))
    ]


def split_pages(found: Sequence[tuple[str, int]], tasks: int | None) -> list[tuple[Pages, ...]]:
    """Split partitions into equal shares of pages; small partitions share a task.

    The last range of each partition is open, so it includes rows that were added after the pages were counted.
    """
    total = sum(pages for _, pages in found)
    tasks = tasks or min(max(1, -(-total // PAGES_PER_TASK)), MAX_TASKS)
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


def select_text(selection: Selection, pages: Pages, expressions: dict[str, str]) -> str:
    """Return the SELECT that reads some pages.

    It reads the parent table, so row-level security applies, and the day's bounds prune the other partitions. The
    default partition has no bounds, so its rows are selected by tableoid. A relation that was given by name may be
    detached, so it is read directly.
    """
    columns = sql.SQL(", ").join(
        sql.SQL("{} as {}").format(sql.SQL(expressions[name]), sql.Identifier(name))
        for name in selection.columns
    )
    return sql.SQL("select {} from {}").format(columns, rows_of_pages(selection, pages)).as_string(None)


def rows_of_pages(selection: Selection, pages: Pages) -> sql.Composed:
    """Return the FROM clause, with its conditions, for the selected rows of some pages."""
    through_parent = selection.relation is None
    parent = sql.Identifier(
        "minutehand", "jobs" if selection.home.name == "jobs_done" else selection.home.name
    )
    return sql.SQL("{} where {}").format(
        parent if through_parent else sql.Identifier("minutehand", pages.relation),
        sql.SQL(" and ").join(_conditions(selection, pages, through_parent)),
    )


def _conditions(selection: Selection, pages: Pages, through_parent: bool) -> Iterator[sql.Composable]:
    dated = sql.Identifier(selection.home.dated)
    yield sql.SQL("ctid >= {}::tid").format(sql.Literal(f"({pages.first},0)"))
    if pages.last is not None:
        yield sql.SQL("ctid < {}::tid").format(sql.Literal(f"({pages.last},0)"))
    if through_parent and selection.home.name == "jobs_done":
        yield sql.SQL("deleted is not null")
    if through_parent and pages.day is None:
        yield sql.SQL("tableoid = {}::regclass").format(sql.Literal(f"minutehand.{pages.relation}"))
    for day, bound in _bounds(selection, pages, through_parent):
        yield sql.SQL(bound).format(dated, sql.Literal(f"{day} 00:00+00"))


def _bounds(selection: Selection, pages: Pages, through_parent: bool) -> Iterator[tuple[date, str]]:
    since, until = (
        (pages.day, pages.day) if through_parent and pages.day else (selection.since, selection.until)
    )
    if since is not None:
        yield since, "{} >= {}::timestamptz"
    if until is not None:
        yield until + timedelta(days=1), "{} < {}::timestamptz"


def _overlaps(name: str, selection: Selection) -> bool:
    day = Pages(name, 0, None).day
    return day is None or ((selection.since or day) <= day <= (selection.until or day))
