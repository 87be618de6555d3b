"""Cancel running jobs: they end at the next check or extend, or when the claim lapses."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from minutehand import Job, LostError
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed, Outcome, Released, Snoozed
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def test_running_job_is_refused_without_the_running_option(queue: Queue) -> None:
    job = queue.claimed()

    assert [(each.outcome, each.state) for each in cancel(queue.database, [job.id])] == [
        ("refused", "running")
    ]
    (change,) = cancel(queue.database, [job.id], "no longer wanted", running=True)
    assert (change.outcome, change.state, change.reason) == (
        "requested",
        "running",
        "the job ends at its next check",
    )
    assert queue.row(job.id).state == "running"


def test_cancel_of_mixed_states_reports_each(queue: Queue) -> None:
    done = queue.claimed()
    finish(done, Done())
    running, waiting = queue.claimed(), queue.enqueue()
    changes = cancel(queue.database, [done.id, waiting, running.id], running=True)

    assert [each.outcome for each in changes] == ["refused", "changed", "requested"]
    assert queue.row(waiting).state == "cancelled"


@pytest.mark.fault("check_claim", r"select cancelling", "select null as cancelling")
def test_job_ends_as_cancelled_at_its_next_check(queue: Queue) -> None:
    steps: list[int] = []

    def handler(_: object, job: Job) -> None:
        for step in range(5):
            job.check()
            steps.append(step)
            if step == 1:
                cancel(queue.another(), [job.id], "no longer wanted", running=True)

    job_id, ending = queue.attempt(handler)

    assert (ending.ending, steps) == ("cancelled", [0, 1])
    assert queue.row(job_id).state == "cancelled"
    assert (queue.row(job_id).error or {})["message"] == "no longer wanted"


@pytest.mark.fault("extend", r"j\.visible, j\.cancelling", "j.visible, null as cancelling")
def test_job_ends_as_cancelled_at_its_next_extend(queue: Queue) -> None:
    def handler(_: object, job: Job) -> None:
        cancel(queue.another(), [job.id], running=True)
        job.extend(LONG)

    _, ending = queue.attempt(handler)
    assert ending.ending == "cancelled"


def test_check_inside_a_transaction_rolls_it_back(queue: Queue) -> None:
    queue.sql("create table notes (text text)")
    queue.sql("grant all on notes to public")

    def handler(_: object, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("insert into notes values ('half')")
            cancel(queue.another(), [job.id], running=True)
            job.check()

    _, ending = queue.attempt(handler)
    assert ending.ending == "cancelled"
    assert queue.sql("select 1 from notes") == []


@pytest.mark.fault(
    "functions/updates", r"set cancelling = request_cancellation.reason", "set cancelling = null"
)
def test_job_without_checks_ends_as_cancelled_when_its_claim_lapses(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], "no longer wanted", running=True)
    queue.pass_time(job.id)
    run_maintenance(queue.database)

    row = queue.row(job.id)
    assert (row.state, row.error) == ("cancelled", {"type": "Cancelled", "message": "no longer wanted"})
    assert finish(job, Done()).ending == "lost"


@pytest.mark.fault("take", r"and cancelling is null", "")
@pytest.mark.fault("offer", r"and cancelling is null", "")
def test_lapsed_job_with_a_cancel_request_is_not_offered_or_taken(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)
    queue.pass_time(job.id)

    assert queue.offer() == []
    assert queue.take() == []
    for changes in (promote(queue.database, [job.id]), reschedule(queue.database, [job.id], delay=LONG)):
        assert [each.reason for each in changes] == ["its cancellation was already requested"]


@pytest.mark.fault("functions/updates", r"(promote_jobs\(ids.*?) and cancelling is null", r"\1")
@pytest.mark.fault("functions/updates", r"(reschedule_jobs\(ids.*?) and cancelling is null", r"\1")
@pytest.mark.fault("functions/updates", r"(edit_jobs\(.*?)and j.cancelling is null", r"\1")
def test_lapsed_job_with_a_cancel_request_is_not_changed(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)
    queue.pass_time(job.id)

    changes = [
        *promote(queue.database, [job.id]),
        *reschedule(queue.database, [job.id], delay=LONG),
        *edit(queue.database, [job.id], priority=1),
    ]
    assert [change.outcome for change in changes] == ["refused"] * 3


def test_job_that_finishes_before_its_check_is_done(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)

    assert finish(job, Done()).ending == "done"
    assert queue.row(job.id).state == "done"


@pytest.mark.fault("release", r" and j\.cancelling is null", "")
@pytest.mark.parametrize(
    "outcome",
    [Failed(ERROR, delay=timedelta()), Snoozed(LONG), Released()],
    ids=lambda each: type(each).__name__,
)
def test_job_that_would_come_back_ends_as_cancelled_if_requested(queue: Queue, outcome: Outcome) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], "no longer wanted", running=True)

    assert finish(job, outcome).ending == "cancelled"
    row = queue.row(job.id)
    assert (row.state, row.error) == ("cancelled", {"type": "Cancelled", "message": "no longer wanted"})
    assert finish(job, outcome).ending == "lost"


def test_job_cancelled_while_running_can_be_retried(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)
    queue.pass_time(job.id)
    run_maintenance(queue.database)

    assert [each.outcome for each in retry(queue.database, [job.id])] == ["changed"]
    (again,) = queue.take()
    again.check()


@pytest.mark.fault("check_claim", r"and %\(ack\)s in \(ack, prior\)", "")
def test_check_raises_lost_if_another_worker_has_the_job(queue: Queue) -> None:
    late = queue.claimed()
    queue.pass_time(late.id)
    queue.take()

    with pytest.raises(LostError):
        late.check()


@pytest.mark.parametrize("verb", ["promote", "reschedule"])
def test_trap_promoting_a_running_job_is_refused(queue: Queue, verb: str) -> None:
    job = queue.claimed()
    move: Any = {"promote": promote, "reschedule": partial(reschedule, delay=timedelta())}[verb]

    assert [each.reason for each in move(queue.database, [job.id])] == ["the job is running"]
    assert queue.take() == []
    assert queue.offer() == []
    assert finish(job, Done()).ending == "done"
