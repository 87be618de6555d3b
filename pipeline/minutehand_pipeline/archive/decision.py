"""Decide what to do with a day, and do it. A run and a dry run share the decision."""

from dataclasses import dataclass, replace
from datetime import date
from enum import Enum

from minutehand.database import Database
from minutehand_pipeline.archive.archiver import Archiver, Copy
from minutehand_pipeline.archive.closing import Closing, Day
from minutehand_pipeline.archive.ledger import record_day
from minutehand_pipeline.archive.sums import Sums, count_database
from minutehand_pipeline.statements import run_statement


class Action(Enum):
    """What to do with a day."""

    WAIT = "open"
    RECORD_EMPTY = "empty"
    SKIP = "known"
    ARCHIVE = "pending"


@dataclass(frozen=True)
class Decision:
    """An action, the reason for waiting, and the number of rows that the lake probably lacks, and of all rows.

    `snapshot` is that of the count.
    """

    action: Action
    reason: str = ""
    rows: int = 0
    present: int = 0
    snapshot: str | None = None


@dataclass(frozen=True, kw_only=True)
class DayResult:
    """The result of one day.

    `outcome` is `archived`, `known` (the lake had it), `empty`, `open`, or `pending` in a dry run. `rows` is how many
    rows were archived, as batch `number`. `dropped` is `dropped`, `held`, `busy` or `large` if a drop was requested
    and the day had something to drop; only `dropped` removed it. `reason` says why an open day was skipped.
    """

    home: str
    day: date
    outcome: str
    rows: int = 0
    number: int | None = None
    dropped: str | None = None
    reason: str = ""


def decide(database: Database, closing: Closing, day: Day) -> Decision:
    """Decide what to do with a day that is over."""
    if holder := closing.wait_for_holder(day.ends):
        return Decision(Action.WAIT, reason=f"{holder} may still commit rows to it")
    count, snapshot = count_database(database.connection, day.home, day.day)
    if count == 0:
        return Decision(Action.RECORD_EMPTY, snapshot=snapshot)
    if _is_recorded(database, day, count):
        return Decision(Action.SKIP)
    return Decision(Action.ARCHIVE, rows=max(0, count - (day.rows or 0)) or count, present=count)


def execute(
    archiver: Archiver, day: Day, decision: Decision, copy: Copy | None, number: int, *, drop: bool
) -> DayResult:
    """Carry out a decision; `number` is the next batch number, `copy` the copy of a day to archive."""
    result = DayResult(home=day.home.name, day=day.day, outcome=decision.action.value, reason=decision.reason)
    if decision.action is Action.WAIT:
        return result
    if decision.action is Action.RECORD_EMPTY:
        # Rows may have arrived since the count.
        record_day(archiver.database, day.home, day.day, Sums(), decision.snapshot)
    # A drop needs proof that the lake has the rows that were recorded. A day of an earlier run is read for it, and
    # archived again if the proof fails. A day of this run is not read again: `archive` has read back its files,
    # compared them with the database, and committed just these files, or it raised. Later changes in the database
    # need no proof, because the drop compares the identities of the rows with the recorded ones under its lock.
    unproven = drop and decision.action is Action.SKIP and not archiver.has_rows(day, _recorded_sums(day))
    if decision.action is Action.ARCHIVE or unproven:
        result = _archive(archiver, copy or archiver.copy([day])[0], result, number)
    return _drop(archiver, day, result, number) if drop else result


def _archive(archiver: Archiver, copy: Copy, result: DayResult, number: int) -> DayResult:
    """Archive the missing rows with the next free number, and add them to the result."""
    batch = archiver.archive(copy, number if result.number is None else result.number + 1)
    if batch is None:
        return (
            replace(result, outcome=Action.SKIP.value) if result.outcome == Action.ARCHIVE.value else result
        )
    return replace(result, outcome="archived", rows=result.rows + batch.written.rows, number=batch.number)


def _drop(archiver: Archiver, day: Day, result: DayResult, number: int) -> DayResult:
    """Drop the day. If rows arrived or changed since they were recorded, archive those once and try again."""
    outcome = archiver.drop(day)
    if outcome == "held":
        result = _archive(archiver, archiver.copy([day])[0], result, number)
        outcome = archiver.drop(day)
    return replace(result, dropped=None if outcome == "none" else outcome)


def _is_recorded(database: Database, day: Day, count: int) -> bool:
    """Whether the lake has the rows of a day: as many as the database, and the same ones, by key and ack."""
    if day.rows != count or day.identity is None:
        return False
    partition = f"{day.home.name}_{day.day:%Y%m%d}" if day.partitioned else f"{day.home.name}_default"
    [present] = run_statement(database, "archive_same", home=day.home.name, partition=partition, day=day.day)
    return (present["rows"], int(present["identity"])) == (day.rows, day.identity)


def _recorded_sums(day: Day) -> Sums:
    return Sums(rows=day.rows or 0, identity=day.identity or 0)
