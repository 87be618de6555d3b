"""Finish: write an attempt's outcome to its row, if the claim still holds."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal, assert_never

from minutehand.errors import (
    ConflictError,
    DatabaseError,
    InvalidJobError,
    KeyTakenError,
    UnreachableError,
)
from minutehand.lease import Claim
from minutehand.model.failure import bounded, result_error
from minutehand.model.occurrence import merge_errors, next_of
from minutehand.model.outcome import (
    Cancelled,
    Done,
    Ending,
    Error,
    Failed,
    Finish,
    Outcome,
    Released,
    Settled,
    Snoozed,
)
from minutehand.model.payload import encode
from minutehand.model.worker import label
from minutehand.settings.table import ENCRYPT_RESULTS

# The database's calendar ends in the year 9999.
LONGEST_DELAY = timedelta(days=2_880_000)
# The least value of max_result: a smaller result always fits.
SMALLEST_LIMIT = 16384


def finish(claim: Claim, outcome: Outcome) -> Finish:
    """Write the outcome in one statement, fenced by the claim's ack.

    `lost` is not an error: another worker has claimed the job since, and nothing was written. `superseded` means that
    the job was to come back, but a newer upcoming job has its key. A broken connection is opened again once, which the
    fence makes safe. If the database refuses an outcome, the attempt fails.
    """
    try:
        return _finish(claim, without_large_result(claim, outcome))
    except UnreachableError:
        return _finish(claim, without_large_result(claim, outcome))
    except (InvalidJobError, DatabaseError) as error:
        refused = {"type": "OutcomeError", "message": f"the database refused the outcome: {error}"}
        if isinstance(outcome, Settled):
            return _settle(claim, Settled(outcome.finish, error={**refused, "stage": "result"}))
        return _finish(claim, Failed(refused))


def complete(claim: Claim, result: object) -> Finish:
    """Write `done` in the transaction that is open on the claim's database."""
    done = Done(None if result is None else encode(result))
    try:
        return _finish(claim, without_large_result(claim, done))
    except ConflictError:
        # The statement waited for the row, and another session has finished the job.
        return Finish("lost")


def without_large_result(claim: Claim, outcome: Outcome) -> Outcome:
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
    match outcome:
        case Done(result, error):
            return _end(claim, "done", result, error)
        case Failed(error, _, final, result) if final or claim.last:
            return _end(claim, "dead", result, error)
        case Failed(error, delay, _, result):
            wait = delay if delay is not None else claim.retry.wait(claim.attempt)
            return _release_claim(claim, "retrying", wait, 0, error, result)
        case Cancelled(error, result):
            return _end(claim, "cancelled", result, error)
        case Snoozed(delay):
            return _release_claim(claim, "snoozed", delay, 1)
        case Released(delay, error):
            return _release_claim(claim, "released", delay, 1, error)
        case Settled():
            return _settle(claim, outcome)
        case _:
            assert_never(outcome)


def _end(
    claim: Claim, ending: Literal["done", "dead", "cancelled"], result: str | None, error: Error | None
) -> Finish:
    """End the job. A recurring job gets its next occurrence in the same statement, unless it was cancelled."""
    following, fault = (None, None) if ending == "cancelled" else _next_occurrence(claim)
    error = merge_errors(error, fault)
    ended = claim.database.run(
        "finish",
        **attempt_parameters(claim, ending, result, error),
        failed=ending != "done",
        cancelled=ending == "cancelled",
        next=following,
    )
    if not ended:
        return Finish("lost", error=error)
    row = ended[0]
    return Finish(
        ending, error=error, next=row["next"], on_dead=row["on_dead"], at=row["deleted"], result=result
    )


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
        result=_stored_result(claim, result),
        error=None if error is None else encode(error),
    )
    return replace(finish, error=error, result=result or finish.result) if added else finish


def _release_claim(
    claim: Claim,
    ending: Ending,
    delay: timedelta,
    refund: int,
    error: Error | None = None,
    result: str | None = None,
) -> Finish:
    """Make the job visible again after a delay; `refund` is how many attempts it gets back."""
    attempt = attempt_parameters(claim, ending, result, error)
    delay = min(max(delay, timedelta()), LONGEST_DELAY)
    try:
        released = claim.database.run("release", **attempt, delay=delay, refund=refund)
    except KeyTakenError:
        return _supersede(claim, error, result)
    return (
        Finish(ending, released[0]["visible"], error)
        if released
        else _cancel_if_requested(claim, error, result)
    )


def _cancel_if_requested(claim: Claim, error: Error | None, result: str | None) -> Finish:
    """Cancel a job that was not released because its cancellation was requested; otherwise the claim is lost."""
    rows = claim.database.run("check_claim", id=claim.id, ack=claim.ack)
    if not rows or rows[0]["cancelling"] is None:
        return Finish("lost", error=error)
    return _end(claim, "cancelled", result, {"type": "Cancelled", "message": rows[0]["cancelling"]})


def _supersede(claim: Claim, error: Error | None, result: str | None) -> Finish:
    """End a job that cannot come back, because a newer upcoming job has its key."""
    error = bounded(error)
    reason = None if error is None else f"{error['type']}: {error['message']}"
    attempt = attempt_parameters(claim, "superseded", result, error)
    ended = claim.database.run("supersede", **attempt, reason=reason)
    return Finish("superseded" if ended else "lost")


def attempt_parameters(
    claim: Claim, ending: Ending, result: str | None, error: Error | None
) -> dict[str, Any]:
    """Return the parameters that every finishing statement has: the fence, and the attempt's history."""
    worker = claim.lease.worker
    return {
        "id": claim.id,
        "ack": claim.ack,
        "outcome": ending,
        "started": claim.claimed + claim.lease.waited,
        "result": _stored_result(claim, result),
        "error": None if error is None else encode(bounded(error)),
        "worker": label(worker.name),
        "request": label(worker.request),
        "memory_mb": worker.memory_mb,
        "version": label(worker.version),
    }


def _stored_result(claim: Claim, result: str | None) -> str | None:
    """Return the result as its row stores it: encrypted with MINUTEHAND_ENCRYPT_RESULTS."""
    if result is None or not ENCRYPT_RESULTS.read():
        return result
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import encrypt_result

    return encrypt_result(result, claim)


def _next_occurrence(claim: Claim) -> tuple[datetime | None, Error | None]:
    """Return the nominal time of the next occurrence of a recurring job, skipping missed ones."""
    if not claim.every:
        return None, None
    now = claim.database.run("clock")[0]["now"]
    return next_of(claim.every, claim.zone, claim.nominal or claim.run_at, now)
