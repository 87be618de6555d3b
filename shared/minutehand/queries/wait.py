"""Wait until a job is finished, by polling with growing pauses."""

from dataclasses import replace
from datetime import timedelta
from time import monotonic, sleep
from uuid import UUID

from minutehand.database import Connection, Database, database_of
from minutehand.errors import InvalidJobError, UnfinishedError
from minutehand.model.payload import is_encrypted
from minutehand.model.row import FINISHED, Row
from minutehand.model.rules import sentence
from minutehand.queries.jobs import get

# In seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
GROWTH = 1.5


def decrypted(row: Row) -> Row:
    """Return a finished job with its result decrypted, if this process has the key."""
    if not is_encrypted(row.result):
        return row
    # Imported here, so that a process without encryption does not load the cryptography.
    from minutehand.encryption.envelope import decrypted_result

    return replace(row, result=decrypted_result(row.result, row))


def wait(
    job_id: UUID,
    timeout: timedelta = timedelta(seconds=30),
    *,
    connection: Connection | Database | None = None,
) -> Row:
    """Return a job once it is finished (done, dead, expired or cancelled), with its result.

    Raises UnfinishedError after the timeout, and NotFoundError if the job does not exist. Each poll is a short
    statement, so a pooler's connection is free in between. A connection of yours must be in autocommit: a transaction
    would hold its locks, and the jobs it enqueued would not run before its commit.
    """
    return decrypted(wait_encrypted(job_id, timeout, connection=connection))


def wait_encrypted(
    job_id: UUID, timeout: timedelta, *, connection: Connection | Database | None = None
) -> Row:
    """Wait like `wait`, but return an encrypted result as it is stored; this needs no key."""
    database = database_of(connection)
    if database.in_transaction or not database.connection.autocommit:
        raise InvalidJobError("wait_is_alone", sentence("wait_is_alone"))
    deadline, pause = monotonic() + timeout.total_seconds(), FIRST_PAUSE
    while True:
        unfinished = database.run("get_unfinished", id=job_id)
        # A job may come back between the two statements.
        if not unfinished and (row := get(database, job_id)).state in FINISHED:
            return row
        if (left := deadline - monotonic()) <= 0:
            raise UnfinishedError(job_id, unfinished[0]["state"] if unfinished else row.state, timeout)
        sleep(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
