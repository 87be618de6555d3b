"""A job queue for AWS Lambda and Postgres.

    from minutehand import job

    @job(max_attempts=5)
    def welcome(email: str): ...

    welcome.options(run_at=tomorrow_at_eight, key="welcome/ada").enqueue(email="ada@example.com")

The modules at the root, in the order of the flow:

    enqueue       insert jobs as rows that become visible at a given time
    batches       jobs that belong together, and the job that follows them
    tick          one pass of the dispatcher: maintenance, offer, fan_out
    maintenance   reap abandoned jobs, fire schedules, keep scans short
    offer         give due jobs a fresh ack, up to the capacity
    fan_out       invoke a worker for each chunk of offers
    claim         exchange offered acks for claims
    lease         how long a claim holds
    handlers      find the function of a kind
    kinds         functions decorated as jobs, and where each kind's handler is
    calling       which arguments a handler receives, and how an async one runs
    middleware    functions around every handler and every enqueue
    claimed_job   a claimed job as its handler sees it
    handle        run the handler and return the outcome
    attempts      run the jobs of a chunk: one at a time, or async ones together
    finish        write the outcome, if the claim still holds
    waking        start jobs without waiting for the next tick
    work          claim, handle and finish, for an invocation or as a resident worker
    errors        the errors that minutehand raises

`operations` changes jobs, `queries` reads them, `model` has the values that flow between these modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from minutehand.claimed_job import AsyncJob, Job
from minutehand.database import Database
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.errors import (
    BusyError,
    ConfigurationError,
    ConflictError,
    ConnectionTypeError,
    DatabaseError,
    InvalidHandlerError,
    InvalidJobError,
    KeyTakenError,
    LostError,
    MinutehandError,
    MismatchError,
    NotFoundError,
    PayloadError,
    RunningError,
    SchemaError,
    UndeclaredKindError,
    UnfinishedError,
    UnknownKindError,
    UnsuccessfulError,
)
from minutehand.model.outcome import Cancel, Fail, OutOfTime, RetryAfter, Snooze
from minutehand.model.retry import Retry

if TYPE_CHECKING:
    from minutehand.batches import AsyncBatch, Batch, batch
    from minutehand.database.async_database import AsyncDatabase
    from minutehand.kinds.decorator import job
    from minutehand.model.enqueued import Enqueued, Rejected
    from minutehand.model.new_job import NewJob
    from minutehand.queries.results import wait
    from minutehand.waking.manual import wake

__version__ = "0.1.0"

__all__ = [
    "AsyncBatch",
    "AsyncDatabase",
    "AsyncJob",
    "Batch",
    "BusyError",
    "Cancel",
    "ConfigurationError",
    "ConflictError",
    "ConnectionTypeError",
    "Database",
    "DatabaseError",
    "Enqueued",
    "Fail",
    "InvalidHandlerError",
    "InvalidJobError",
    "Job",
    "KeyTakenError",
    "LostError",
    "MinutehandError",
    "MismatchError",
    "NewJob",
    "NotFoundError",
    "OutOfTime",
    "PayloadError",
    "Rejected",
    "Retry",
    "RetryAfter",
    "RunningError",
    "SchemaError",
    "Snooze",
    "UndeclaredKindError",
    "UnfinishedError",
    "UnknownKindError",
    "UnsuccessfulError",
    "batch",
    "enqueue",
    "enqueue_many",
    "job",
    "wait",
    "wake",
]


# Imported when they are used, for the sake of cold starts.
_MODULES = {
    "AsyncBatch": "minutehand.batches",
    "AsyncDatabase": "minutehand.database.async_database",
    "Batch": "minutehand.batches",
    "Enqueued": "minutehand.model.enqueued",
    "NewJob": "minutehand.model.new_job",
    "Rejected": "minutehand.model.enqueued",
    "batch": "minutehand.batches",
    "job": "minutehand.kinds.decorator",
    "wait": "minutehand.queries.results",
    "wake": "minutehand.waking.manual",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value
