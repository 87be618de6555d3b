"""Ending: the statement that ends jobs, with their next occurrences, and the next take of a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from minutehand.attempts.record import Write, attempt_columns, column
from minutehand.database import Database, Record
from minutehand.errors import MinutehandError
from minutehand.model.occurrence import merge_errors, next_of
from minutehand.model.outcome import Finish


@dataclass(eq=False)
class Ahead:
    """A statement to run with the next outcomes, in their transaction, and its rows once it has run.

    A resident worker writes the outcomes of its last jobs and takes the next ones. Together this is one commit and one
    round trip, for which most of the time of a short job is spent.
    """

    name: str
    parameters: Mapping[str, Any]
    rows: list[Record] | None = field(default=None, repr=False)
    # The monotonic second before it was sent, from which leases count, and how long both statements took.
    sent: float = 0.0
    seconds: float = 0.0

    def run_after(self, database: Database, name: str, parameters: dict[str, Any]) -> list[Record] | None:
        """Run a statement and then this one, in one transaction; return None if that is not possible.

        Each has its own fence. If either fails, nothing is changed, and both can be run alone.
        """
        if self.rows is not None:
            return None
        self.sent = monotonic()
        both = database.run_together((name, parameters), (self.name, dict(self.parameters)))
        if both is None:
            return None
        self.seconds = monotonic() - self.sent
        first, self.rows = both
        return first


def end_one(write: Write) -> Finish:
    """End one job."""
    (finish,) = end([write])
    assert finish is not None
    return finish


def end(writes: Sequence[Write], ahead: Ahead | None = None) -> list[Finish | None]:
    """End the jobs of one worker, in one transaction with the statement of `ahead` if that is possible.

    Recurring jobs get their next occurrences in the same statement, unless they were cancelled. None stands for a job
    that is left, because the statement failed for those that a smaller one skipped; the others are committed.
    """
    _add_next_occurrences([write for write in writes if write.claim.every and write.ending != "cancelled"])
    database = writes[0].claim.database
    parameters = {**attempt_columns(writes), "nexts": column([write.next for write in writes])}
    name = _statement_for(writes)
    ended = None if ahead is None else ahead.run_after(database, name, parameters)
    if ended is None:
        ended = database.run(name, **parameters)
    # By the number, whose comparison is much faster than that of a UUID.
    rows = {row["id"].int: row for row in ended}
    failed = False
    if len(rows) < len(writes) and name != "finish":
        others = [write for write in writes if write.claim.id.int not in rows]
        try:
            left = database.run("finish", **attempt_columns(others), nexts=None)
            rows.update({row["id"].int: row for row in left})
        except MinutehandError:
            if not rows:
                raise
            failed = True
    found = [(write, rows.get(write.claim.id.int)) for write in writes]
    return [None if failed and row is None else _ended(write, row) for write, row in found]


def _statement_for(writes: Sequence[Write]) -> str:
    """Return the smallest statement that can end these jobs; the smaller ones skip those that they must not end."""
    in_batch = False
    for write in writes:
        claim = write.claim
        if (
            write.ending != "done"
            or write.error is not None
            or write.next is not None
            or claim.group is not None
        ):
            return "finish"
        in_batch = in_batch or claim.batch is not None
    return "finish_in_batch" if in_batch else "finish_done"


def _ended(write: Write, row: Record | None) -> Finish:
    if row is None:
        return Finish("lost", error=write.error)
    if write.ending == "done" and (write.error, write.result, write.next) == (None, None, None):
        # Most jobs.
        return Finish.of_done(row["deleted"], row["awaited"], write.claim.batch)
    return Finish(
        write.ending,
        error=write.error,
        next=row.get("next"),
        on_dead=row.get("on_dead"),
        at=row["deleted"],
        result=write.result,
        awaited=row["awaited"],
        next_at=write.next if row.get("next") is not None else None,
        batch=write.claim.batch,
    )


def _add_next_occurrences(writes: Sequence[Write]) -> None:
    """Add the nominal time of the next occurrence, skipping missed ones, or the error that prevents it."""
    if not writes:
        return
    now = writes[0].claim.database.run("clock")[0]["now"]
    for write in writes:
        claim = write.claim
        write.next, fault = next_of(claim.every or "", claim.zone, claim.nominal or claim.run_at, now)
        write.error = merge_errors(write.error, fault)
