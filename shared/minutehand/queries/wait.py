"""Wait: look at a job again and again, ever more seldom, until it is finished."""

from dataclasses import replace
from datetime import timedelta
from time import monotonic, sleep
from uuid import UUID

from minutehand.database import Connection, Database, database_of
from minutehand.errors import InvalidJobError, UnfinishedError
from minutehand.model.payload import is_encrypted
from minutehand.model.rules import sentence
from minutehand.queries.jobs import FINISHED, Row, get

FIRST_PAUSE, LONGEST_PAUSE, GROWTH = (
    0.05,
    2.0,
    1.5,
)  # seconds; and how much longer each pause is than the last


def in_clear(row: Row) -> Row:
    """Return a finished job with its result decrypted, if this process has the key."""
    if not is_encrypted(row.result):
        return row
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import decrypted_result

    return replace(row, result=decrypted_result(row.result, row))


def wait(
    job_id: UUID,
    timeout: timedelta = timedelta(seconds=30),
    *,
    connection: Connection | Database | None = None,
) -> Row:
    """Return the job once it is finished: done, dead or cancelled, with its result.

    Raises UnfinishedError when the time is over, and NotFoundError where there is no such job. Each look is a short
    statement of its own, so that a pooler's connection is free in between. Your own connection has to be in
    autocommit: a transaction would hold its locks meanwhile, and its own jobs are nobody's before it is committed.
    """
    database = database_of(connection)
    if database.in_transaction or not database.connection.autocommit:
        raise InvalidJobError("wait_is_alone", sentence("wait_is_alone"))
    deadline, pause = monotonic() + timeout.total_seconds(), FIRST_PAUSE
    while True:
        unfinished = database.run("unfinished", id=job_id)
        if not unfinished and (row := get(database, job_id)).state in FINISHED:
            return in_clear(row)  # else somebody has brought it back between the two looks
        if (left := deadline - monotonic()) <= 0:
            raise UnfinishedError(job_id, unfinished[0]["state"] if unfinished else row.state, timeout)
        sleep(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
