"""Finish: an outcome becomes the row's next state, if the claim is still this worker's."""

from datetime import timedelta
from typing import Literal, assert_never

from minutehand.errors import DatabaseError, InvalidJobError, KeyTakenError, UnreachableError
from minutehand.job import Job
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

FARTHEST = timedelta(days=2_880_000)  # the calendar of the database ends in the year 9999


def finish(job: Job, outcome: Outcome) -> Finish:
    """Write the outcome, in one statement fenced by the job's ack.

    `lost` is no error: another worker has claimed the job meanwhile, and nothing was overwritten. `superseded`
    means that the job would come back, but a newer upcoming job has its key. A broken connection is opened again
    once, which the fence makes safe; an outcome that the database refuses is a failure of the attempt.
    """
    try:
        return _finish(job, outcome)
    except UnreachableError:
        return _finish(job, outcome)
    except (InvalidJobError, DatabaseError) as error:
        return _finish(job, Failed({"type": "OutcomeError", "message": f"the outcome was refused: {error}"}))


def _finish(job: Job, outcome: Outcome) -> Finish:
    match outcome:
        case Done(result, error):
            return _end(job, "done", result, error)
        case Failed(error, _, final, result) if final or job.last:
            return _end(job, "dead", result, error)
        case Failed(error, delay, _, result):
            wait = delay if delay is not None else job.retry.wait(job.attempt)
            return _give_back(job, "retrying", wait, 0, error, result)
        case Cancelled(error, result):
            return _end(job, "cancelled", result, error)
        case Snoozed(delay):
            return _give_back(job, "snoozed", delay, 1)
        case Released(delay, error):
            return _give_back(job, "released", delay, 1, error)
        case Settled():
            return Finish("done", next=job.next)
        case _:
            assert_never(outcome)


def _end(
    job: Job, ending: Literal["done", "dead", "cancelled"], result: str | None, error: Error | None
) -> Finish:
    return Finish(ending if job.end(ending, result, error) else "lost", error=error, next=job.next)


def _give_back(
    job: Job,
    ending: Ending,
    delay: timedelta,
    refund: int,
    error: Error | None = None,
    result: str | None = None,
) -> Finish:
    facts = job.attempt_facts(ending, result, error)
    try:
        back = job.database.run(
            "give_back", **facts, delay=min(max(delay, timedelta()), FARTHEST), refund=refund
        )
    except KeyTakenError:
        return _supersede(job, error, result)
    return Finish(ending, back[0]["visible"], error) if back else _as_asked(job, error, result)


def _as_asked(job: Job, error: Error | None, result: str | None) -> Finish:
    """End what was asked to end, and does not go back; the others are lost."""
    asked = job.database.run("check_claim", id=job.id, ack=job.ack)
    if not asked or asked[0]["cancelling"] is None:
        return Finish("lost", error=error)
    return _end(job, "cancelled", result, {"type": "Cancelled", "message": asked[0]["cancelling"]})


def _supersede(job: Job, error: Error | None, result: str | None) -> Finish:
    why = None if error is None else f"{error['type']}: {error['message']}"
    ended = job.database.run("supersede", **job.attempt_facts("superseded", result, error), why=why)
    return Finish("superseded" if ended else "lost")
