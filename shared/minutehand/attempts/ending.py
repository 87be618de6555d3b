"""Ending: the statement that ends jobs, with their next occurrences, and the next take of a worker."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.attempts.claimed import Claim
from minutehand.attempts.record import Write, attempt_columns, column, done_columns
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
    if all(map(_is_only_done, writes)):
        return end_done([write.claim for write in writes], column([write.result for write in writes]), ahead)
    nexts = column([write.next for write in writes])
    ended = _run("finish", writes[0].claim, {**attempt_columns(writes), "nexts": nexts}, ahead)
    rows = {row["id"]: row for row in ended}
    return [_ended(write, rows.get(write.claim.id)) for write in writes]


def _is_only_done(write: Write) -> bool:
    """Return whether a smaller statement can end the job: it is done, and its end has no other effects."""
    return (write.ending, write.error, write.next, write.claim.group) == ("done", None, None, None)


def is_plain(claim: Claim) -> bool:
    """Return whether a job has no next occurrence and no group, so that a smaller statement can end it."""
    return claim.every is None and claim.group is None


def end_done(
    claims: Sequence[Claim], results: Sequence[str | None] | None = None, ahead: Ahead | None = None
) -> list[Finish | None]:
    """Do what `end` does for jobs that are done, without an error or a next occurrence, in less time.

    The smaller statement skips some of them, which `finish` ends. `results` may be None if no job has one.
    """
    batches = [claim.batch for claim in claims]
    name = "finish_done" if batches.count(None) == len(batches) else "finish_in_batch"
    (done,) = _run(name, claims[0], done_columns(claims, results), ahead)
    at, awaited = done["deleted"], set(done["awaited"]) if done["awaited"] else ()
    results = results or [None] * len(claims)
    skipped: Set[UUID] = frozenset()
    left: dict[UUID, Finish] = {}
    if done["ended"] < len(claims):
        skipped = {claim.id for claim in claims}.difference(done["ids"] or ())
        left = _end_skipped(claims, results, skipped)
    return [
        left.get(claim.id)
        if skipped and claim.id in skipped
        else _done(claim, result, at, claim.id in awaited)
        for claim, result in zip(claims, results, strict=True)
    ]


def _end_skipped(
    claims: Sequence[Claim], results: Sequence[str | None], skipped: Set[UUID]
) -> dict[UUID, Finish]:
    """End the jobs that the smaller statement skipped; return nothing if that fails, and others are committed."""
    writes = [
        Write(claim, "done", result)
        for claim, result in zip(claims, results, strict=True)
        if claim.id in skipped
    ]
    try:
        rows = _run("finish", writes[0].claim, {**attempt_columns(writes), "nexts": None}, None)
    except MinutehandError:
        if len(skipped) == len(claims):
            raise
        return {}
    by_id = {row["id"]: row for row in rows}
    return {write.claim.id: _ended(write, by_id.get(write.claim.id)) for write in writes}


def _run(name: str, claim: Claim, parameters: dict[str, Any], ahead: Ahead | None) -> list[Record]:
    if ahead is not None and (rows := ahead.run_after(claim.database, name, parameters)) is not None:
        return rows
    return claim.database.run(name, **parameters)


def _done(claim: Claim, result: str | None, at: datetime, awaited: bool) -> Finish:
    if result is None:
        # Most jobs.
        return Finish.of_done(at, awaited, claim.batch)
    return Finish("done", at=at, result=result, awaited=awaited, batch=claim.batch)


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
        next_at=write.next if row["next"] is not None else None,
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
