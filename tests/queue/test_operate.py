"""Cancel, promote, reschedule, retry and delete: upcoming jobs only, and outcomes per job."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.change import Change
from minutehand.operations.deletion import count_finished, delete_finished
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
FUTURE = datetime(2500, 1, 1, tzinfo=UTC)


@pytest.fixture
def jobs(queue: Queue) -> dict[str, UUID]:
    """A job in each of the eight states."""
    done, dead, retrying = queue.claimed(), queue.claimed(max_attempts=1), queue.claimed(payload="again")
    finish(done, Done())
    finish(dead, Failed(ERROR))
    finish(retrying, Failed(ERROR, delay=LONG))
    cancelled = queue.enqueue()
    cancel(queue.database, [cancelled])
    running, offered = queue.claimed(), queue.enqueue()
    queue.offer()
    return {
        "scheduled": queue.enqueue(delay=LONG),
        "due": queue.enqueue(),
        "offered": offered,
        "running": running.id,
        "retrying": retrying.id,
        "done": done.id,
        "dead": dead.id,
        "cancelled": cancelled,
    }


def outcomes(jobs: dict[str, UUID], changes: list[Change]) -> dict[str, str]:
    """The outcome for the job in each state: `changed`, or the reason of a refusal."""
    names = {job_id: name for name, job_id in jobs.items()}
    return {names[change.id]: change.reason or change.outcome for change in changes}


def states(queue: Queue, jobs: dict[str, UUID]) -> dict[str, str]:
    return {name: queue.row(job_id).state for name, job_id in jobs.items()}


FINISHED = {name: f"the job is already {name}" for name in ("done", "dead", "cancelled")}
RUNNING = {"running": "the job is running"}
WAITING = dict.fromkeys(["scheduled", "due", "offered", "retrying"], "changed")
SAME = {"running": "running", "done": "done", "dead": "dead", "cancelled": "cancelled"}


def test_cancel_ends_upcoming_jobs_and_keeps_them(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = cancel(queue.database, list(jobs.values()), "the customer left")

    assert outcomes(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "cancelled")
    assert queue.row(jobs["retrying"]).error == {"type": "Cancelled", "message": "the customer left"}
    assert queue.take(10) == []


def test_promote_makes_upcoming_jobs_due(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = promote(queue.database, list(jobs.values()))

    assert outcomes(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "due")
    assert {job.id for job in queue.take(10)} == {jobs[name] for name in WAITING}


def test_reschedule_moves_upcoming_jobs(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = reschedule(queue.database, list(jobs.values()), FUTURE)

    assert outcomes(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "scheduled") | {"retrying": "retrying"}
    assert {queue.row(jobs[name]).visible for name in WAITING} == {FUTURE}
    assert queue.take(10) == []


def test_retry_brings_back_failed_and_cancelled_jobs_only(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = retry(queue.database, list(jobs.values()))

    never = {
        name: f"the job is {name}; only dead, expired and cancelled jobs can be retried"
        for name in [*WAITING, "done"]
    }
    assert outcomes(jobs, changes) == never | RUNNING | {"dead": "changed", "cancelled": "changed"}
    assert states(queue, jobs) == {name: name for name in jobs} | {"dead": "due", "cancelled": "due"}
    assert queue.row(jobs["dead"]).attempts == 0


def test_missing_job_is_absent_and_repeated_id_is_changed_once(queue: Queue) -> None:
    job_id, nowhere = queue.enqueue(), uuid4()

    changes = cancel(queue.database, [job_id, nowhere, job_id])
    assert [(change.id, change.outcome) for change in changes] == [(job_id, "changed"), (nowhere, "absent")]
    assert cancel(queue.database, []) == []


def test_offer_of_a_changed_job_cannot_be_claimed(queue: Queue) -> None:
    ids = [queue.enqueue() for _ in range(3)]
    offers = queue.offer()
    cancel(queue.database, ids[:1])
    promote(queue.database, ids[1:2])
    reschedule(queue.database, ids[2:], delay=LONG)

    assert queue.claim(*offers) == []


def test_promote_keeps_the_attempts(queue: Queue, jobs: dict[str, UUID]) -> None:
    promote(queue.database, [jobs["retrying"]])

    assert queue.row(jobs["retrying"]).attempts == 1
    assert (queue.row(jobs["retrying"]).error or {})["type"] == "ValueError"


def test_reschedule_takes_a_delay_and_treats_the_past_as_now(queue: Queue) -> None:
    one, other = queue.enqueue(delay=LONG), queue.enqueue(delay=LONG)
    reschedule(queue.database, [one], delay=timedelta(days=3))
    reschedule(queue.database, [other], datetime(2001, 9, 9, tzinfo=UTC))

    (wait,) = queue.sql("select visible - now() as wait from minutehand.jobs where id = %(id)s", id=one)
    assert timedelta(days=2, hours=23) < wait["wait"] < timedelta(days=3)
    assert queue.row(other).state == "due"
    assert queue.row(other).run_at > datetime(2001, 9, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "rule"),
    [
        ({}, "run_at_or_delay"),
        ({"run_at": FUTURE, "delay": LONG}, "run_at_or_delay"),
        ({"delay": -LONG}, "delay_is_not_negative"),
        ({"run_at": datetime(2500, 1, 1)}, "time_is_finite"),
        ({"run_at": "tomorrow"}, "time_is_finite"),
        ({"run_at": datetime.max.replace(tzinfo=UTC)}, "time_is_finite"),
        ({"delay": timedelta.max}, "number_is_in_range"),
    ],
    ids=str,
)
def test_reschedule_refuses_what_enqueue_refuses(queue: Queue, when: dict[str, object], rule: str) -> None:
    job_id = queue.enqueue(delay=LONG)
    before = queue.row(job_id)
    with pytest.raises(InvalidJobError) as refused:
        reschedule(queue.database, [job_id], **when)  # type: ignore[call-overload]

    assert refused.value.rule == rule
    assert queue.row(job_id) == before


def test_retry_is_refused_if_its_key_has_an_upcoming_job(queue: Queue) -> None:
    dead, free = queue.claimed(key="report", max_attempts=1), queue.claimed(key="other", max_attempts=1)
    for job in (dead, free):
        finish(job, Failed(ERROR))
    upcoming = queue.enqueue(key="report")
    changes = retry(queue.database, [dead.id, free.id])

    assert [(change.outcome, change.state, change.reason) for change in changes] == [
        ("refused", "dead", "another unfinished job has its key"),
        ("changed", None, ""),
    ]
    assert queue.row(dead.id).state == "dead"
    assert queue.row(upcoming).state == "due"


def test_retry_brings_back_one_of_several_jobs_with_a_key(queue: Queue) -> None:
    dead = []
    for _ in range(3):
        dead.append(queue.claimed(key="report", max_attempts=1))
        finish(dead[-1], Failed(ERROR))
    changes = retry(queue.database, [job.id for job in dead])

    assert sorted(change.outcome for change in changes) == ["changed", "refused", "refused"]
    assert len(queue.take(10)) == 1


def test_crashed_job_is_not_promoted_over_the_upcoming_job_of_its_key(queue: Queue) -> None:
    crashed, free = queue.claimed(key="report"), queue.enqueue(delay=LONG)
    queue.pass_time(crashed.id)
    newer = queue.enqueue(key="report", delay=LONG)

    for changes in (
        promote(queue.database, [crashed.id, free]),
        reschedule(queue.database, [crashed.id, free], FUTURE),
    ):
        assert [(change.outcome, change.reason) for change in changes] == [
            ("refused", "another unfinished job has its key"),
            ("changed", ""),
        ]
    assert queue.row(newer).state == "scheduled"
    assert [change.outcome for change in cancel(queue.database, [crashed.id])] == ["changed"]


def test_delete_finished_deletes_jobs_finished_before_a_time_only(
    queue: Queue, jobs: dict[str, UUID]
) -> None:
    now = queue.sql("select now() as now")[0]["now"]
    queue.sql(
        "update minutehand.jobs set enqueued = now() - interval '1 year', run_at = now() - interval '1 year'"
    )

    assert count_finished(queue.database, now - LONG) == 0
    assert list(delete_finished(queue.database, now - LONG)) == []
    assert count_finished(queue.database, FUTURE, states=["dead"]) == 1
    assert list(delete_finished(queue.database, FUTURE, states=["dead"])) == [1]
    assert (
        count_finished(queue.database, FUTURE, queue="other")
        == count_finished(queue.database, FUTURE, kind="other")
        == 0
    )
    assert count_finished(queue.database, FUTURE) == sum(delete_finished(queue.database, FUTURE)) == 2
    assert {row["id"] for row in queue.sql("select id from minutehand.jobs")} == set(jobs.values()) - {
        jobs[name] for name in FINISHED
    }


def test_delete_finished_refuses_a_time_without_a_zone(queue: Queue) -> None:
    with pytest.raises(InvalidJobError):
        count_finished(queue.database, datetime(2500, 1, 1))
    with pytest.raises(InvalidJobError):
        list(delete_finished(queue.database, datetime(2500, 1, 1)))


def test_concurrent_cancel_and_finish_have_one_winner(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    other = queue.another()
    with other.transaction():
        assert cancel(other, [job.id])[0].outcome == "changed"
        finishing = queue.start(finish, job, Done())
        queue.until_done_or_waiting(finishing)

    assert finishing.result().ending == "lost"
    assert queue.row(job.id).state == "cancelled"
