"""A job queue for AWS Lambda and Postgres.

    from minutehand import enqueue

    enqueue("welcome", {"email": "ada@example.com"}, run_at=tomorrow_at_eight, key="welcome/ada")

The modules of this folder are the flow of a job: `enqueue`, `tick`, `offer`, `fan_out`, `claim`, `handle`, `finish`.
`work` runs the last three for a worker. `operations` changes jobs and `queries` reads them.
"""

from minutehand.database import Database
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.errors import (
    ConfigurationError,
    ConflictError,
    DatabaseError,
    InvalidJobError,
    KeyTakenError,
    LostError,
    MinutehandError,
    NotFoundError,
    PayloadError,
    RunningError,
    SchemaError,
    UnfinishedError,
    UnknownKindError,
)
from minutehand.job import Job
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.new_job import NewJob
from minutehand.model.outcome import Cancel, Fail, RetryAfter, Snooze
from minutehand.model.retry import Retry
from minutehand.queries.wait import wait

__version__ = "0.1.0"

__all__ = [
    "Cancel",
    "ConfigurationError",
    "ConflictError",
    "Database",
    "DatabaseError",
    "Enqueued",
    "Fail",
    "InvalidJobError",
    "Job",
    "KeyTakenError",
    "LostError",
    "MinutehandError",
    "NewJob",
    "NotFoundError",
    "PayloadError",
    "Rejected",
    "Retry",
    "RetryAfter",
    "RunningError",
    "SchemaError",
    "Snooze",
    "UnfinishedError",
    "UnknownKindError",
    "enqueue",
    "enqueue_many",
    "wait",
]
