"""Ending: the statement that ends jobs, with their next occurrences, and the next take of a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from minutehand.attempts.record import Write, attempt_columns, column
from minutehand.database import Database, Record
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
    # The monotonic second before it was sent, from which leases count.
    sent: float = 0.0

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
        first, self.rows = both
        return first


def end(writes: Sequence[Write], ahead: Ahead | None = None) -> list[Finish]:
    """End the jobs of one worker, in one transaction with the statement of `ahead` if that is possible.

    Recurring jobs get their next occurrences in the same statement, unless they were cancelled.
    """
    _add_next_occurrences([write for write in writes if write.claim.every and write.ending != "cancelled"])
    database = writes[0].claim.database
    parameters = {**attempt_columns(writes), "nexts": column([write.next for write in writes])}
    ended = None if ahead is None else ahead.run_after(database, "finish", parameters)
    if ended is None:
        ended = database.run("finish", **parameters)
    # By the number, whose comparison is much faster than that of a UUID.
    rows = {row["id"].int: row for row in ended}
    return [_ended(write, rows.get(write.claim.id.int)) for write in writes]


def _ended(write: Write, row: Record | None) -> Finish:
    if row is None:
        return Finish("lost", error=write.error)
    return Finish(
        write.ending,
        error=write.error,
        next=row["next"],
        on_dead=row["on_dead"],
        at=row["deleted"],
        result=write.result,
        awaited=row["awaited"],
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
