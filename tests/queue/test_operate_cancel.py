"""Cancel a running job: it ends at its next check, at an extension, or when its claim lapses; done stays done."""

from datetime import timedelta

import pytest

from minutehand import Job, LostError
from minutehand.finish import finish
from minutehand.maintenance import keep_up
from minutehand.model.outcome import Done, Failed, Outcome, Released, Snoozed
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def test_a_running_job_is_refused_unless_it_is_said_that_it_may_run(queue: Queue) -> None:
    job = queue.claimed()

    assert [(each.outcome, each.state) for each in cancel(queue.database, [job.id])] == [
        ("refused", "running")
    ]
    (asked,) = cancel(queue.database, [job.id], "no longer wanted", running=True)
    assert (asked.outcome, asked.state, asked.why) == ("asked", "running", "it ends at its next check")
    assert queue.row(job.id).state == "running"


def test_what_waits_is_cancelled_at_once_and_what_is_finished_refused(queue: Queue) -> None:
    done = queue.claimed()
    finish(done, Done())
    running, waiting = queue.claimed(), queue.enqueue()
    changes = cancel(queue.database, [done.id, waiting, running.id], running=True)

    assert [each.outcome for each in changes] == ["refused", "changed", "asked"]
    assert queue.row(waiting).state == "cancelled"


@pytest.mark.fault("check", r"select cancelling", "select null as cancelling")
def test_a_job_ends_as_cancelled_at_its_next_check(queue: Queue) -> None:
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


@pytest.mark.fault("extend", r"returning visible, cancelling", "returning visible, null as cancelling")
def test_a_job_ends_as_cancelled_when_it_asks_for_more_time(queue: Queue) -> None:
    def handler(_: object, job: Job) -> None:
        cancel(queue.another(), [job.id], running=True)
        job.extend(LONG)

    _, ending = queue.attempt(handler)
    assert ending.ending == "cancelled"


def test_a_check_sees_it_inside_the_jobs_own_transaction_and_rolls_that_back(queue: Queue) -> None:
    queue.sql("create table notes (text text)")
    queue.sql("grant all on notes to public")

    def handler(_: object, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("insert into notes values ('half')")
            cancel(queue.another(), [job.id], running=True)
            job.check()

    _, ending = queue.attempt(handler)
    assert ending.ending == "cancelled"
    assert queue.sql("select from notes") == []


@pytest.mark.fault("cancel_running", r"set cancelling = %\(reason\)s::text", "set cancelling = null")
def test_a_job_whose_worker_never_checks_ends_as_cancelled_when_its_claim_lapses(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], "no longer wanted", running=True)
    queue.pass_time(job.id)
    keep_up(queue.database)

    row = queue.row(job.id)
    assert (row.state, row.error) == ("cancelled", {"type": "Cancelled", "message": "no longer wanted"})
    assert finish(job, Done()).ending == "lost"


@pytest.mark.fault("take", r"and cancelling is null", "")
@pytest.mark.fault("offer", r"and cancelling is null", "")
def test_a_lapsed_job_that_was_to_end_is_offered_and_taken_by_nobody(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)
    queue.pass_time(job.id)

    assert queue.offer() == []
    assert queue.take() == []
    for changes in (promote(queue.database, [job.id]), reschedule(queue.database, [job.id], delay=LONG)):
        assert [each.why for each in changes] == ["it was asked to end, and will"]


def test_a_job_that_is_done_before_it_checks_is_done(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)

    assert finish(job, Done()).ending == "done"
    assert queue.row(job.id).state == "done"


@pytest.mark.fault("give_back", r" and cancelling is null", "")
@pytest.mark.parametrize(
    "outcome",
    [Failed(ERROR, delay=timedelta()), Snoozed(LONG), Released()],
    ids=lambda each: type(each).__name__,
)
def test_a_job_that_would_come_back_ends_as_cancelled_if_that_was_asked(
    queue: Queue, outcome: Outcome
) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], "no longer wanted", running=True)

    assert finish(job, outcome).ending == "cancelled"
    row = queue.row(job.id)
    assert (row.state, row.error) == ("cancelled", {"type": "Cancelled", "message": "no longer wanted"})
    assert finish(job, outcome).ending == "lost"


def test_a_job_that_was_cancelled_while_it_ran_can_be_brought_back(queue: Queue) -> None:
    job = queue.claimed()
    cancel(queue.database, [job.id], running=True)
    queue.pass_time(job.id)
    keep_up(queue.database)

    assert [each.outcome for each in retry(queue.database, [job.id])] == ["changed"]
    (again,) = queue.take()
    again.check()


@pytest.mark.fault("check", r"and %\(ack\)s in \(ack, prior\)", "")
def test_a_check_tells_a_worker_that_another_one_has_the_job(queue: Queue) -> None:
    late = queue.claimed()
    queue.pass_time(late.id)
    queue.take()

    with pytest.raises(LostError):
        late.check()


@pytest.mark.parametrize("verb", ["promote", "reschedule"])
def test_the_trap_of_promoting_a_running_job_it_is_refused_and_runs_once(queue: Queue, verb: str) -> None:
    job = queue.claimed()
    move = {"promote": promote, "reschedule": lambda db, ids: reschedule(db, ids, delay=timedelta())}[verb]

    assert [each.why for each in move(queue.database, [job.id])] == ["a running job is not touched"]
    assert queue.take() == []
    assert queue.offer() == []
    assert finish(job, Done()).ending == "done"
