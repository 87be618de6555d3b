"""Finish: write the outcomes of attempts to their rows, each if its claim still holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from minutehand.attempts.claimed import Claim
from minutehand.attempts.ending import Ahead, end, end_done, end_one, is_plain
from minutehand.attempts.record import Write, attempt_columns, attempt_parameters, stored_result
from minutehand.errors import (
    BusyError,
    ConflictError,
    DatabaseError,
    InvalidJobError,
    KeyTakenError,
    MinutehandError,
    ReadOnlyError,
    UnreachableError,
)
from minutehand.model.failure import bounded, result_error
from minutehand.model.occurrence import merge_errors
from minutehand.model.outcome import (
    DONE,
    Cancelled,
    Done,
    Failed,
    Finish,
    Outcome,
    Released,
    Settled,
    Snoozed,
)
from minutehand.model.payload import encode

AnyOutcome = TypeVar("AnyOutcome", bound=Outcome)

# The database's calendar ends in the year 9999.
LONGEST_DELAY = timedelta(days=2_880_000)
# One job must not stop a group for longer.
LONGEST_HOLD = timedelta(days=1)
# The least value of max_result: a smaller result always fits.
SMALLEST_LIMIT = 16384


def finish_all(
    ended: Sequence[tuple[Claim, Outcome]], ahead: Ahead | None = None
) -> Iterator[tuple[int, Finish]]:
    """Write the outcomes of one worker's attempts together, and yield the position and the finish of each.

    One statement ends jobs, and one brings jobs back. Each job is fenced by its own ack: a lost claim concerns no other
    job. If the database rejects a statement, for example because of one of its results, its outcomes are written one by
    one; the first error of an outcome is raised after all others have been written. The statement of `ahead` runs in
    the transaction of the jobs that end, if it can.
    """
    failure: Exception | None = None
    # Statements that lock several rows lock them in one order, so that they do not deadlock.
    places = sorted(range(len(ended)), key=[claim.id.int for claim, _ in ended].__getitem__)
    coming = {place for place, each in enumerate(ended) if type(each[1]) is not Done and _runs_again(*each)}
    for back in (False, True):
        chosen = [place for place in places if (place in coming) is back]
        if not chosen:
            continue
        try:
            finishes = _write_together([ended[place] for place in chosen], back, ahead)
        except MinutehandError:
            finishes = None
        together = list(zip(chosen, finishes or [None] * len(chosen), strict=True))
        # First those that are written, so that an error does not hide them.
        for place, found in together:
            if found is not None:
                yield place, found
        for place in [place for place, found in together if found is None]:
            try:
                finished = finish(*ended[place])
            except (UnreachableError, ReadOnlyError):
                raise
            except Exception as error:
                # It concerns this outcome only.
                failure = failure or error
                continue
            yield place, finished
    if failure is not None:
        raise failure


def _write_together(
    ended: Sequence[tuple[Claim, Outcome]], back: bool, ahead: Ahead | None
) -> Sequence[Finish | None] | None:
    """Write outcomes by one statement; return None if there is only one, and no statement to run with it."""
    if len(ended) == 1 and (back or ahead is None):
        return None
    plain = [claim for claim, outcome in ended if outcome is DONE and is_plain(claim)]
    if len(plain) == len(ended):
        # Nearly always.
        return end_done(plain, ahead=ahead)
    writes = [_write_of(claim, outcome) for claim, outcome in ended]
    return _release(writes) if back else end(writes, ahead)


def finish(claim: Claim, outcome: Outcome) -> Finish:
    """Write the outcome in one statement, fenced by the claim's ack.

    `lost` is not an error: another worker has claimed the job since, and nothing was written. `superseded` means that
    the job was to come back, but a newer upcoming job has its key. If the connection broke, or the server accepts no
    writes or gave the statement up, it is sent once more, which the fence makes safe. If the database refuses an
    outcome, the attempt fails.
    """
    try:
        return _finish(claim, outcome)
    except (UnreachableError, ReadOnlyError, BusyError):
        # Nothing is wrong with the outcome. If the server gives up again, the claim lapses and the job runs again.
        return _finish(claim, outcome)
    except (InvalidJobError, DatabaseError) as error:
        refused = {"type": "OutcomeError", "message": f"the database refused the outcome: {error}"}
        if isinstance(outcome, Settled):
            return _settle(claim, Settled(outcome.finish, error={**refused, "stage": "result"}))
        return _finish(claim, Failed(refused))


def complete(claim: Claim, result: object) -> Finish:
    """Write `done` in the transaction that is open on the claim's database."""
    done = Done(None if result is None else encode(result, "result"))
    try:
        return _finish(claim, done)
    except ConflictError:
        # The statement waited for the row, and another session has finished the job.
        return Finish("lost")


def without_large_result(claim: Claim, outcome: AnyOutcome) -> AnyOutcome:
    """Drop a result whose JSON is larger than the database's `max_result`; the error explains it."""
    if not isinstance(outcome, (Done, Failed, Cancelled, Settled)) or outcome.result is None:
        return outcome
    if (size := len(outcome.result.encode())) <= SMALLEST_LIMIT:
        return outcome
    limit = claim.database.run("max_result")[0]["max_result"]
    if size <= limit:
        return outcome
    fault = result_error(f"it must have at most {limit} bytes, got {size}")
    if outcome.error is None:
        error = fault
    else:
        error = {**outcome.error, "message": f"{outcome.error['message']} ({fault['message']})"}
    return replace(outcome, result=None, error=error)


def _finish(claim: Claim, outcome: Outcome) -> Finish:
    if isinstance(outcome, Settled):
        return _settle(claim, without_large_result(claim, outcome))
    write = _write_of(claim, outcome)
    if write.delay is None:
        return end_one(write)
    try:
        return _release([write])[0] or _cancel_if_requested(write)
    except KeyTakenError:
        return _supersede(write)


def _runs_again(claim: Claim, outcome: Outcome) -> bool:
    """Return whether the job becomes visible again."""
    return isinstance(outcome, (Snoozed, Released)) or (
        isinstance(outcome, Failed) and not outcome.final and not claim.last
    )


def _write_of(claim: Claim, outcome: Outcome) -> Write:
    """Return what to write of an outcome, whose job has not ended before."""
    match without_large_result(claim, outcome):
        case Done(result, error):
            return Write(claim, "done", result, error)
        case Failed(error, delay, _, result, hold) if _runs_again(claim, outcome):
            wait = delay if delay is not None else claim.retry.wait(claim.attempt)
            return Write(claim, "retrying", result, error, _bounded(wait), hold=_hold(hold))
        case Failed(error, _, _, result, hold):
            return Write(claim, "dead", result, error, hold=_hold(hold))
        case Cancelled(error, result):
            return Write(claim, "cancelled", result, error)
        case Snoozed(delay):
            return Write(claim, "snoozed", delay=_bounded(delay), refund=1)
        case Released(delay, error):
            return Write(claim, "released", None, error, _bounded(delay), 1)
        case other:
            raise AssertionError(f"{other} has been written")


def _hold(hold: timedelta | None) -> timedelta | None:
    return None if hold is None else min(_bounded(hold), LONGEST_HOLD)


def _bounded(delay: timedelta) -> timedelta:
    return min(max(delay, timedelta()), LONGEST_DELAY)


def _settle(claim: Claim, outcome: Settled) -> Finish:
    """Add a later result or error to the row of the job that the handler's transaction completed."""
    finish, result, error = outcome.finish, outcome.result, outcome.error
    if result is None and error is None:
        return finish
    error = bounded(merge_errors(error, finish.error))
    if error and finish.error and "stage" in finish.error:
        error["stage"] = finish.error["stage"]
    added = claim.database.run(
        "settle",
        id=claim.id,
        ack=claim.ack,
        ended=finish.at,
        result=stored_result(claim, result),
        error=None if error is None else encode(error),
    )
    return replace(finish, error=error, result=result or finish.result) if added else finish


def _release(writes: Sequence[Write]) -> Sequence[Finish | None]:
    """Make the jobs visible again after their delays. None stands for a job that was not released."""
    released = writes[0].claim.database.run(
        "release",
        **attempt_columns(writes),
        delays=[write.delay for write in writes],
        refunds=[write.refund for write in writes],
    )
    rows = {row["id"]: row for row in released}
    return [
        Finish(write.ending, row["visible"], write.error, at=row["ended"])
        if (row := rows.get(write.claim.id))
        else None
        for write in writes
    ]


def _cancel_if_requested(write: Write) -> Finish:
    """Cancel a job that was not released because its cancellation was requested; otherwise the claim is lost."""
    claim = write.claim
    rows = claim.database.run("check_claim", id=claim.id, ack=claim.ack)
    if not rows or rows[0]["cancelling"] is None:
        return Finish("lost", error=write.error)
    error = {"type": "Cancelled", "message": rows[0]["cancelling"]}
    return end_one(Write(claim, "cancelled", write.result, error, hold=write.hold))


def _supersede(write: Write) -> Finish:
    """End a job that cannot come back, because a newer upcoming job has its key."""
    error = bounded(write.error)
    reason = None if error is None else f"{error['type']}: {error['message']}"
    attempt = attempt_parameters(write.claim, "superseded", write.result, error)
    ended = write.claim.database.run(
        "supersede", **attempt, reason=reason, ending=write.ending, hold=write.hold
    )
    return Finish("superseded", at=ended[0]["deleted"]) if ended else Finish("lost")
