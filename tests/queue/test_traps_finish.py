"""Known faults of finishing and of operations on running jobs. Each test must fail if its fault is put back."""

from collections.abc import Callable
from typing import Any

import pytest

from minutehand import Job, LostError
from minutehand.attempts.record import attempt_parameters
from minutehand.database import Database
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed, Outcome, Snoozed
from minutehand.operations.change import Change
from minutehand.operations.jobs import cancel, promote, reschedule
from tests.queue.stage import LEASE, LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
FENCE = r"and e\.ack in \(j\.ack, j\.prior\)"
SUPERSEDE_FENCE = r"and %\(ack\)s in \(ack, prior\)"


def taken_over(queue: Queue, **options: Any) -> tuple[Job, Job]:
    """Return the jobs of a worker that was too slow, and of the worker that claimed its job since."""
    slow = queue.claimed(**options)
    queue.pass_time(slow.id)
    (owner,) = queue.take()
    owner.lease.start()
    return slow, owner


@pytest.mark.fault("finish", FENCE, "and e.ack is not null")
@pytest.mark.fault("finish_done", r"and j\.ack = .*?j\.id\)\]", "and j.ack is not null")
@pytest.mark.fault("release", FENCE, "and e.ack is not null")
def test_lost_claim_cannot_finish_the_job(queue: Queue) -> None:
    slow, owner = taken_over(queue)
    outcomes: list[Outcome] = [Done(), Failed(ERROR), Failed(ERROR, final=True), Snoozed(LONG)]

    assert [finish(slow, outcome).ending for outcome in outcomes] == ["lost"] * 4
    assert queue.row(owner.id).state == "running"
    assert finish(owner, Done()).ending == "done"


@pytest.mark.fault("extend", r"and j\.ack = e\.ack", "and e.ack is not null")
@pytest.mark.fault("extend", r"and j\.ack = e\.ack", FENCE.replace("\\", ""))
def test_lost_claim_cannot_extend_the_lease(queue: Queue) -> None:
    slow, owner = taken_over(queue)
    with pytest.raises(LostError):
        slow.extend(LEASE)

    queue.pass_time(owner.id)
    queue.offer()
    with pytest.raises(LostError):
        owner.extend(LEASE)


@pytest.mark.fault("supersede", SUPERSEDE_FENCE, "and %(ack)s::uuid is not null")
def test_lost_claim_cannot_supersede_the_job(queue: Queue) -> None:
    slow = queue.claimed(key="report")
    queue.pass_time(slow.id)
    (owner,) = queue.take()
    queue.enqueue(key="report")
    attempt = attempt_parameters(slow, "superseded", None, None)
    queue.database.run("supersede", **attempt, reason=None, ending="retrying", hold=None)

    assert queue.row(owner.id).state == "running"


@pytest.mark.fault("finish", FENCE, FENCE.replace("\\", "") + " and j.visible > clock_timestamp()")
@pytest.mark.fault("finish", FENCE, "and e.ack = j.ack")
def test_late_finish_is_accepted_until_another_worker_claims(queue: Queue) -> None:
    dead, late, later = queue.claimed(), queue.claimed(), queue.claimed()
    queue.pass_time(dead.id)
    assert finish(dead, Failed(ERROR, final=True)).ending == "dead"
    queue.pass_time(late.id)
    assert finish(late, Done('"late"')).ending == "done"
    queue.pass_time(later.id)
    queue.offer()
    assert finish(later, Done('"later"')).ending == "done"

    assert [queue.row(job.id).result for job in (late, later)] == ["late", "later"]


@pytest.mark.fault("offer", r"prior = case .*? end", "prior = null")
@pytest.mark.fault("offer", r"coalesce\(prior, ack\)", "ack")
def test_late_finish_is_accepted_after_any_number_of_lost_offers(queue: Queue) -> None:
    late = queue.claimed()
    for _ in range(3):
        queue.pass_time(late.id)
        assert len(queue.offer()) == 1

    assert finish(late, Done()).ending == "done"


@pytest.mark.fault("claim", r"prior = null, ", "")
def test_new_claim_rejects_the_finish_of_the_previous_worker(queue: Queue) -> None:
    slow = queue.claimed()
    queue.pass_time(slow.id)
    (owner,) = queue.claim(*queue.offer())

    assert finish(slow, Done()).ending == "lost"
    assert finish(owner, Done()).ending == "done"


@pytest.mark.fault("take", r"prior = null, ", "")
def test_take_of_an_offered_job_rejects_the_previous_worker(queue: Queue) -> None:
    slow = queue.claimed()
    queue.pass_time(slow.id)
    queue.offer()
    queue.pass_time(slow.id)
    (owner,) = queue.take()

    assert finish(slow, Done()).ending == "lost"
    assert finish(owner, Done()).ending == "done"


@pytest.mark.fault("release", r"prior = null, ", "")
def test_late_failure_of_an_offered_job_ends_its_claim(queue: Queue) -> None:
    late = queue.claimed()
    queue.pass_time(late.id)
    queue.offer()

    assert [finish(late, Failed(ERROR)).ending for _ in range(2)] == ["retrying", "lost"]


OPERATIONS: list[Callable[[Database, Job], list[Change]]] = [
    lambda database, job: promote(database, [job.id]),
    lambda database, job: reschedule(database, [job.id], job.run_at),
    lambda database, job: cancel(database, [job.id]),
]


@pytest.mark.fault(
    "functions/updates", r"(promote_jobs\(ids.*?)and minutehand.state\(.*?\) <> 'running'", r"\1"
)
@pytest.mark.fault(
    "functions/updates", r"(reschedule_jobs\(ids.*?)and minutehand.state\(.*?\) <> 'running'", r"\1"
)
@pytest.mark.fault(
    "functions/updates", r"(cancel_jobs\(ids.*?)and minutehand.state\(.*?\) <> 'running'", r"\1"
)
@pytest.mark.fault(
    "functions/updates",
    r"(promote_jobs\(ids.*?)and minutehand.state\(.*?\) <> 'running'",
    r"\1and visible > now()",
)
def test_operations_on_a_running_job_are_refused(queue: Queue) -> None:
    job = queue.claimed()
    before = queue.row(job.id)
    changes = [change for operate in OPERATIONS for change in operate(queue.database, job)]

    assert [(change.outcome, change.state) for change in changes] == [("refused", "running")] * 3
    assert queue.row(job.id) == before
    assert queue.take() == []
    assert finish(job, Done()).ending == "done"


def test_enqueue_with_the_key_of_a_running_job_creates_another(queue: Queue) -> None:
    job = queue.claimed(key="report")
    other = queue.enqueue(key="report")

    assert other != job.id
    assert queue.row(job.id).state == "running"


@pytest.mark.fault("functions/updates", r"greatest\(to_time", "greatest(visible + (to_time - now())")
def test_rescheduled_job_waits_for_its_new_time(queue: Queue) -> None:
    job_id = queue.enqueue(delay=LONG)
    time = queue.sql("select now() + interval '1 hour' as moment")[0]["moment"]
    reschedule(queue.database, [job_id], time)

    assert queue.row(job_id).visible == time


@pytest.mark.fault("extend", r"clock_timestamp\(\) \+", "j.visible +")
def test_late_extension_counts_from_now(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    job.extend(LEASE)

    assert queue.row(job.id).state == "running"


@pytest.mark.fault("release", r"clock_timestamp\(\) \+", "j.visible +")
def test_late_failure_waits_its_whole_delay(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    finish(job, Failed(ERROR, delay=LEASE))

    assert queue.row(job.id).state == "retrying"
