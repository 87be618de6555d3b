"""What people do to jobs by hand: cancel, promote, reschedule, retry, purge; refused where it would do harm."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import Change, cancel, promote, purge, purgeable, reschedule, retry
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


def said(jobs: dict[str, UUID], changes: list[Change]) -> dict[str, str]:
    """What became of the job in each state, in a word or a sentence."""
    names = {job_id: name for name, job_id in jobs.items()}
    return {names[change.id]: change.why or change.outcome for change in changes}


def states(queue: Queue, jobs: dict[str, UUID]) -> dict[str, str]:
    return {name: queue.row(job_id).state for name, job_id in jobs.items()}


FINISHED = {name: f"it is {name} already" for name in ("done", "dead", "cancelled")}
RUNNING = {"running": "a running job is not touched"}
WAITING = dict.fromkeys(["scheduled", "due", "offered", "retrying"], "changed")
SAME = {"running": "running", "done": "done", "dead": "dead", "cancelled": "cancelled"}


def test_cancel_ends_what_waits_and_keeps_it_in_the_history(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = cancel(queue.database, list(jobs.values()), "the customer left")

    assert said(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "cancelled")
    assert queue.row(jobs["retrying"]).error == {"type": "Cancelled", "message": "the customer left"}
    assert queue.take(10) == []


def test_promote_makes_what_waits_due(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = promote(queue.database, list(jobs.values()))

    assert said(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "due")
    assert {job.id for job in queue.take(10)} == {jobs[name] for name in WAITING}


def test_reschedule_moves_what_waits(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = reschedule(queue.database, list(jobs.values()), FUTURE)

    assert said(jobs, changes) == WAITING | RUNNING | FINISHED
    assert states(queue, jobs) == SAME | dict.fromkeys(WAITING, "scheduled") | {"retrying": "retrying"}
    assert {queue.row(jobs[name]).visible for name in WAITING} == {FUTURE}
    assert queue.take(10) == []


def test_retry_brings_back_what_failed_and_nothing_else(queue: Queue, jobs: dict[str, UUID]) -> None:
    changes = retry(queue.database, list(jobs.values()))

    never = {name: f"it is {name}; only dead and cancelled jobs are retried" for name in [*WAITING, "done"]}
    assert said(jobs, changes) == never | RUNNING | {"dead": "changed", "cancelled": "changed"}
    assert states(queue, jobs) == {name: name for name in jobs} | {"dead": "due", "cancelled": "due"}
    assert queue.row(jobs["dead"]).attempts == 0


def test_what_is_not_there_is_absent_and_what_is_said_twice_is_done_once(queue: Queue) -> None:
    job_id, nowhere = queue.enqueue(), uuid4()

    changes = cancel(queue.database, [job_id, nowhere, job_id])
    assert [(change.id, change.outcome) for change in changes] == [(job_id, "changed"), (nowhere, "absent")]
    assert cancel(queue.database, []) == []


def test_an_offer_that_was_cancelled_promoted_or_moved_finds_nothing_to_claim(queue: Queue) -> None:
    ids = [queue.enqueue() for _ in range(3)]
    offers = queue.offer()
    cancel(queue.database, ids[:1])
    promote(queue.database, ids[1:2])
    reschedule(queue.database, ids[2:], delay=LONG)

    assert queue.claim(*offers) == []


def test_promote_does_not_forget_the_attempts(queue: Queue, jobs: dict[str, UUID]) -> None:
    promote(queue.database, [jobs["retrying"]])

    assert queue.row(jobs["retrying"]).attempts == 1
    assert (queue.row(jobs["retrying"]).error or {})["type"] == "ValueError"


def test_reschedule_takes_a_delay_and_takes_the_past_for_now(queue: Queue) -> None:
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
        ({"run_at": datetime(2500, 1, 1)}, "moment_is_finite"),
        ({"run_at": "tomorrow"}, "moment_is_finite"),
        ({"run_at": datetime.max.replace(tzinfo=UTC)}, "moment_is_finite"),
        ({"delay": timedelta.max}, "number_is_in_range"),
    ],
    ids=str,
)
def test_reschedule_refuses_what_enqueue_refuses(queue: Queue, when: dict[str, object], rule: str) -> None:
    job_id = queue.enqueue(delay=LONG)
    before = queue.row(job_id)
    with pytest.raises(InvalidJobError) as refused:
        reschedule(queue.database, [job_id], **when)  # type: ignore[arg-type]

    assert refused.value.rule == rule
    assert queue.row(job_id) == before


def test_a_retry_makes_way_for_the_upcoming_job_of_its_key(queue: Queue) -> None:
    dead, free = queue.claimed(key="report", max_attempts=1), queue.claimed(key="other", max_attempts=1)
    for job in (dead, free):
        finish(job, Failed(ERROR))
    upcoming = queue.enqueue(key="report")
    changes = retry(queue.database, [dead.id, free.id])

    assert [(change.outcome, change.state, change.why) for change in changes] == [
        ("refused", "dead", "its key has an upcoming job"),
        ("changed", None, ""),
    ]
    assert queue.row(dead.id).state == "dead"
    assert queue.row(upcoming).state == "due"


def test_of_several_dead_jobs_of_a_key_one_comes_back(queue: Queue) -> None:
    dead = []
    for _ in range(3):
        dead.append(queue.claimed(key="report", max_attempts=1))
        finish(dead[-1], Failed(ERROR))
    changes = retry(queue.database, [job.id for job in dead])

    assert sorted(change.outcome for change in changes) == ["changed", "refused", "refused"]
    assert len(queue.take(10)) == 1


def test_promote_and_reschedule_make_way_for_the_newer_job_of_the_key_of_a_crashed_one(queue: Queue) -> None:
    crashed, free = queue.claimed(key="report"), queue.enqueue(delay=LONG)
    queue.pass_time(crashed.id)
    newer = queue.enqueue(key="report", delay=LONG)

    for changes in (
        promote(queue.database, [crashed.id, free]),
        reschedule(queue.database, [crashed.id, free], FUTURE),
    ):
        assert [(change.outcome, change.why) for change in changes] == [
            ("refused", "its key has an upcoming job"),
            ("changed", ""),
        ]
    assert queue.row(newer).state == "scheduled"
    assert [change.outcome for change in cancel(queue.database, [crashed.id])] == ["changed"]


def test_purge_deletes_what_was_finished_before_a_moment_and_nothing_else(
    queue: Queue, jobs: dict[str, UUID]
) -> None:
    now = queue.sql("select now() as now")[0]["now"]
    queue.sql(
        "update minutehand.jobs set enqueued = now() - interval '1 year', run_at = now() - interval '1 year'"
    )

    assert purgeable(queue.database, now - LONG) == 0
    assert list(purge(queue.database, now - LONG)) == []
    assert purgeable(queue.database, FUTURE, states=["dead"]) == 1
    assert list(purge(queue.database, FUTURE, states=["dead"])) == [1]
    assert (
        purgeable(queue.database, FUTURE, queue="other")
        == purgeable(queue.database, FUTURE, kind="other")
        == 0
    )
    assert purgeable(queue.database, FUTURE) == sum(purge(queue.database, FUTURE)) == 2
    assert {row["id"] for row in queue.sql("select id from minutehand.jobs")} == set(jobs.values()) - {
        jobs[name] for name in FINISHED
    }


def test_purge_refuses_a_moment_without_a_time_zone(queue: Queue) -> None:
    with pytest.raises(InvalidJobError):
        purgeable(queue.database, datetime(2500, 1, 1))
    with pytest.raises(InvalidJobError):
        list(purge(queue.database, datetime(2500, 1, 1)))


def test_a_running_job_that_is_cancelled_while_it_finishes_is_one_of_both(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    other = queue.another()
    with other.transaction():
        assert cancel(other, [job.id])[0].outcome == "changed"
        finishing = queue.let(finish, job, Done())
        queue.until_done_or_waiting(finishing)

    assert finishing.result().ending == "lost"
    assert queue.row(job.id).state == "cancelled"
