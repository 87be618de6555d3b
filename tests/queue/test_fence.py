"""Each way to end an attempt, after each change of its claim, is accepted or lost."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from minutehand import Job, LostError
from minutehand.finish import finish
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Released, Snoozed
from minutehand.operations.jobs import cancel, reschedule
from tests.queue.stage import LEASE, LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
OUTCOMES: dict[str, Outcome] = {
    "done": Done('"late"'),
    "retry": Failed(ERROR, delay=LONG),
    "dead": Failed(ERROR, final=True),
    "snooze": Snoozed(LONG),
    "cancel": Cancelled(ERROR),
    "release": Released(LONG),
}
WAYS = [*OUTCOMES, "extend", "transaction"]
STATES = {
    "done": "done",
    "retry": "retrying",
    "dead": "dead",
    "snooze": "scheduled",
    "cancel": "cancelled",
    "release": "scheduled",
    "extend": "running",
    "transaction": "done",
}


def end(job: Job, way: str) -> str:
    """End an attempt in one way, and return its outcome: `lost`, or another."""
    try:
        if way == "extend":
            job.extend(LEASE)
        elif way == "transaction":
            with job.transaction() as connection:
                connection.execute("insert into effects values ('late')")
        else:
            return finish(job, OUTCOMES[way]).ending
    except LostError:
        return "lost"
    return "accepted"


def still_claimed(queue: Queue, job: Job) -> None:
    pass


def expired(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)


def expired_and_offered_again(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert len(queue.offer()) == 1


def claimed_by_another(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert len(queue.claim(*queue.offer())) == 1


def taken_by_another(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert len(queue.take()) == 1


def finished_by_itself(queue: Queue, job: Job) -> None:
    assert finish(job, Done('"before"')).ending == "done"


def finished_by_another(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    (other,) = queue.take()
    assert finish(other, Done('"before"')).ending == "done"


def failed_by_another(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    (other,) = queue.take()
    assert finish(other, Failed(ERROR, delay=LONG)).ending == "retrying"


def cancelled_by_operator(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert cancel(queue.database, [job.id])[0].outcome == "changed"


def rescheduled_by_operator(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert reschedule(queue.database, [job.id], delay=LONG)[0].outcome == "changed"


def replaced(queue: Queue, job: Job) -> None:
    rescheduled_by_operator(queue, job)
    assert queue.enqueue(payload="another", key=job.key, delay=LONG) == job.id


def deleted(queue: Queue, job: Job) -> None:
    cancelled_by_operator(queue, job)
    queue.sql("delete from minutehand.jobs where id = %(id)s", id=job.id)


ACCEPTED = [still_claimed, expired, expired_and_offered_again]
LOST = [
    claimed_by_another,
    taken_by_another,
    finished_by_itself,
    finished_by_another,
    failed_by_another,
    cancelled_by_operator,
    rescheduled_by_operator,
    replaced,
    deleted,
]


@pytest.fixture(autouse=True)
def table_of_effects(queue: Queue) -> None:
    queue.sql("create table effects (what text)")


def claimed(queue: Queue, way: str) -> Job:
    return queue.claimed(key=f"key-{way}", payload="first", max_attempts=5)


def facts(queue: Queue, job_id: UUID) -> list[dict[str, Any]]:
    return queue.sql("select *, xmin::text from minutehand.jobs where id = %(id)s", id=job_id)


def effects(queue: Queue) -> int:
    return len(queue.sql("select * from effects"))


@pytest.mark.parametrize("change", ACCEPTED)
def test_attempt_ends_if_its_job_was_not_claimed_again(
    queue: Queue, change: Callable[[Queue, Job], None]
) -> None:
    endings, states = {}, {}
    for way in WAYS:
        job = claimed(queue, way)
        change(queue, job)
        endings[way], states[way] = end(job, way), queue.row(job.id).state

    if change is expired_and_offered_again:
        # an offered job can be claimed at any time, so it cannot be extended
        assert (endings.pop("extend"), states.pop("extend")) == ("lost", "offered")
    assert "lost" not in endings.values()
    assert states == {way: STATES[way] for way in endings}
    assert effects(queue) == 1


@pytest.mark.parametrize("change", LOST)
def test_attempt_that_lost_its_claim_changes_nothing(
    queue: Queue, change: Callable[[Queue, Job], None]
) -> None:
    for way in WAYS:
        job = claimed(queue, way)
        change(queue, job)
        before = facts(queue, job.id)

        assert (way, end(job, way)) == (way, "lost")
        assert (way, facts(queue, job.id)) == (way, before)
    assert effects(queue) == 0


@pytest.mark.parametrize("first", [way for way in WAYS if way != "extend"])
def test_attempt_ends_once(queue: Queue, first: str) -> None:
    job = claimed(queue, first)
    assert end(job, first) != "lost"
    before = facts(queue, job.id)

    assert [end(job, second) for second in WAYS] == ["lost"] * len(WAYS)
    assert facts(queue, job.id) == before


def test_returning_job_is_superseded_by_a_newer_job_of_its_key(queue: Queue) -> None:
    for way in ("retry", "snooze", "release"):
        job = claimed(queue, way)
        newer = queue.enqueue(payload="newer", key=job.key)
        before = facts(queue, newer)

        assert (way, end(job, way)) == (way, "superseded")
        row = queue.row(job.id)
        assert (row.state, row.error and row.error["type"]) == ("cancelled", "Superseded")
        assert facts(queue, newer) == before
        cancel(queue.database, [newer])


def test_finished_job_does_not_affect_a_newer_job_of_its_key(queue: Queue) -> None:
    for way in ("done", "dead", "cancel", "extend", "transaction"):
        job = claimed(queue, way)
        newer = queue.enqueue(payload="newer", key=job.key)
        before = facts(queue, newer)

        assert end(job, way) not in ("lost", "superseded")
        assert facts(queue, newer) == before
        cancel(queue.database, [newer])


def test_only_a_retry_uses_an_attempt(queue: Queue) -> None:
    job = claimed(queue, "snooze")
    attempts = [job.attempt]
    for way in ("snooze", "release", "retry", "done"):
        end(job, way)
        queue.pass_time(job.id)
        for job in queue.take():
            attempts.append(job.attempt)

    assert attempts == [1, 1, 1, 2]


def test_offer_of_a_job_finished_late_claims_nothing(queue: Queue) -> None:
    job = claimed(queue, "done")
    queue.pass_time(job.id)
    (offered,) = queue.offer()
    end(job, "done")

    assert queue.claim(offered) == []
