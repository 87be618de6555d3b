"""Finish: an outcome becomes the row's next state, if the claim is still this worker's."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, assert_never

from minutehand.database import Record
from minutehand.errors import DatabaseError, InvalidJobError, KeyTakenError, UnreachableError
from minutehand.job import Job
from minutehand.outcomes import Cancelled, Done, Error, Failed, Outcome, Released, Settled, Snoozed
from minutehand.payload import encode

FARTHEST = timedelta(days=2_880_000)  # the calendar of the database ends in the year 9999

Ending = Literal["done", "dead", "cancelled", "retrying", "snoozed", "released", "superseded", "lost"]


@dataclass(frozen=True)
class Finish:
    """What the queue made of an attempt, and for a job that comes back, when."""

    ending: Ending
    visible: datetime | None = None
    error: Error | None = None


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
            return _end(job, "done", result=result, error=error)
        case Failed(error, _, final) if final or job.last:
            return _end(job, "dead", failed=True, error=error)
        case Failed(error, delay, _):
            return _give_back(
                job, "retrying", delay if delay is not None else job.retry.wait(job.attempt), 0, error
            )
        case Cancelled(error):
            return _end(job, "cancelled", failed=True, cancelled=True, error=error)
        case Snoozed(delay):
            return _give_back(job, "snoozed", delay, 1, None)
        case Released(delay, error):
            return _give_back(job, "released", delay, 1, error)
        case Settled():
            return Finish("done")
        case _:
            assert_never(outcome)


def _end(
    job: Job, ending: Ending, *, failed: bool = False, cancelled: bool = False,
    result: str | None = None, error: Error | None = None,
) -> Finish:  # fmt: skip
    parameters = {"failed": failed, "cancelled": cancelled, "result": result, "error": _json(error)}
    ended = job.database.run("finish", id=job.id, ack=job.ack, **parameters)
    return Finish(ending if ended else "lost", error=error)


def _give_back(job: Job, ending: Ending, delay: timedelta, refund: int, error: Error | None) -> Finish:
    parameters = {"delay": min(max(delay, timedelta()), FARTHEST), "refund": refund, "error": _json(error)}
    try:
        records = job.database.run("give_back", id=job.id, ack=job.ack, **parameters)
    except KeyTakenError:
        return _supersede(job, error)
    return _back(ending, records, error)


def _back(ending: Ending, records: list[Record], error: Error | None) -> Finish:
    return Finish(ending, records[0]["visible"], error) if records else Finish("lost", error=error)


def _supersede(job: Job, error: Error | None) -> Finish:
    why = None if error is None else f"{error['type']}: {error['message']}"
    ended = job.database.run("supersede", id=job.id, ack=job.ack, why=why)
    return Finish("superseded" if ended else "lost")


def _json(error: Error | None) -> str | None:
    return None if error is None else encode(error)
