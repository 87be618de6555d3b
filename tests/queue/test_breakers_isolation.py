"""Breakers, and transactions that stay open or do not see what others commit: no finish waits for them or fails."""

import pytest

from minutehand import Job
from minutehand.finish import complete, finish
from minutehand.model.outcome import Done, Failed
from tests.queue.stage import LONG, Queue
from tests.queue.test_batches_concurrent import LIMIT, on
from tests.queue.test_batches_isolation import STRICT, begun
from tests.queue.test_breakers import ERROR, OVER, STATE, declare, fail, fill

pytestmark = pytest.mark.every_server


def running(queue: Queue, after: int, count: int = 4) -> list[Job]:
    """Return running jobs of a group of which one more has failed."""
    declare(queue, after=after, most=count + 1)
    fill(queue, count + 1)
    first, *others = queue.take(count + 1)
    fail(first)
    return others


@pytest.mark.fault("functions/breakers", r"when lock_not_available then", "when division_by_zero then")
def test_open_completion_delays_no_finish_of_its_group(queue: Queue) -> None:
    completing, done, failed, _ = running(queue, after=2)
    session = begun(queue, "read committed")
    assert complete(on(completing, session), None).ending == "done"
    for job, outcome in ((done, Done()), (failed, Failed(ERROR, LONG))):
        finished = queue.start(finish, on(job, queue.another()), outcome).result(LIMIT)
        assert finished.ending in ("done", "retrying")

    session.connection.execute("commit")
    assert queue.sql(STATE)[0]["failures"] == 0


@pytest.mark.fault("functions/breakers", r"deadlock_detected or serialization_failure", "deadlock_detected")
@pytest.mark.parametrize("level", STRICT)
def test_completion_in_an_older_snapshot_is_not_lost(queue: Queue, level: str) -> None:
    """It does not count: another outcome came in between."""
    completing, failed, *_ = running(queue, after=2)
    session = begun(queue, level)
    fail(failed)
    assert complete(on(completing, session), None).ending == "done"
    session.connection.execute("commit")

    assert queue.row(completing.id).state == "done"
    queue.sql(OVER)
    assert queue.sql(STATE)[0]["failures"] == 2
