"""Every attempt is kept as it ended, in the statement that settles its claim, or when a claim is found lapsed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import Cancel, Fail, Job, LostError, RetryAfter, Snooze
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed, Released
from minutehand.model.row import Attempt
from minutehand.model.worker import Worker
from minutehand.operations.jobs import cancel, promote, reschedule
from minutehand.queries.jobs import list_attempts
from minutehand.work import run_jobs
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
LAMBDA = Worker("minutehand-worker", "8f5c2a70-request", 512, "7")


def kept(queue: Queue, job_id: UUID) -> list[Attempt]:
    return list_attempts(queue.database, job_id)


def only(queue: Queue, job_id: UUID) -> Attempt:
    attempts = kept(queue, job_id)
    assert len(attempts) == 1
    return attempts[0]


def outcomes(queue: Queue, job_id: UUID) -> list[tuple[int, str]]:
    return [(each.attempt, each.outcome) for each in kept(queue, job_id)]


def raising(error: BaseException) -> Callable[[Any], None]:
    def handler(_payload: Any) -> None:
        raise error

    return handler


WAYS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "done": (lambda _: "well", 8),
    "retrying": (raising(ValueError("no")), 8),
    "dead": (raising(Fail("never")), 8),
    "snoozed": (raising(Snooze(LONG)), 8),
    "cancelled": (raising(Cancel("nobody wants it")), 8),
}


@pytest.mark.parametrize("way", WAYS)
def test_attempt_is_stored_with_its_outcome(queue: Queue, way: str) -> None:
    handler, most = WAYS[way]

    job_id, ending = queue.attempt(handler, max_attempts=most, queue="default")

    attempt = only(queue, job_id)
    assert (attempt.attempt, attempt.outcome) == (1, way) == (1, ending.ending)
    assert attempt.error == ending.error
    assert timedelta() <= attempt.ended - attempt.started < timedelta(minutes=1)


@pytest.mark.fault("finish", r"from ended\n\)", "from ended where not %(failed)s\n)")
@pytest.mark.fault("give_back", r"attempts \+ %\(refund\)s, %\(started\)s", "attempts, %(started)s")
def test_each_attempt_is_stored_with_its_number(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=3)
    for handler in (
        raising(Snooze(LONG)),
        raising(ValueError("no")),
        raising(ValueError("no")),
        raising(ValueError("no")),
    ):
        queue.pass_time(job_id)
        queue.work(handler)

    assert outcomes(queue, job_id) == [(1, "snoozed"), (1, "retrying"), (2, "retrying"), (3, "dead")]


def test_job_released_before_its_start_is_stored_without_duration(queue: Queue) -> None:
    job = queue.claimed()
    assert finish(replace_began(job), Released()).ending == "released"

    attempt = only(queue, job.id)
    assert (attempt.attempt, attempt.outcome) == (1, "released")
    assert attempt.ended - attempt.started < timedelta(seconds=5)


def replace_began(job: Job) -> Job:
    job.lease.started = None
    return job


@pytest.mark.fault("supersede", r"from ended\n\)", "from ended where false\n)")
def test_superseded_attempt_is_stored_with_its_error(queue: Queue) -> None:
    job = queue.claimed(key="report")
    queue.enqueue(key="report")
    finish(job, Failed(ERROR))

    attempt = only(queue, job.id)
    assert (attempt.outcome, attempt.error) == ("superseded", ERROR)


def test_attempt_excludes_the_wait_for_its_turn_in_a_chunk(queue: Queue) -> None:
    first, second = queue.enqueue(), queue.enqueue()
    jobs = queue.take(2)
    jobs[0].lease.claimed -= 600  # the first one takes ten minutes before the second has its turn
    jobs[1].lease.claimed -= 600

    run_jobs(jobs, HandlerTable({"echo": lambda _: None}), stopping=lambda: False)

    for job_id, job in zip((first, second), jobs, strict=True):
        attempt = only(queue, job_id)
        assert attempt.started - job.claimed >= timedelta(minutes=10)


def test_attempt_has_its_worker_and_the_job_has_its_version(queue: Queue) -> None:
    ids = [queue.enqueue() for _ in range(2)]
    done, failed = queue.take(2)
    done.lease.worker = failed.lease.worker = LAMBDA
    finish(done, Done())
    finish(failed, Failed(ERROR))

    for job_id in ids:
        attempt = only(queue, job_id)
        assert Worker(attempt.worker, attempt.request, attempt.memory_mb, attempt.version) == LAMBDA
    assert [queue.row(job_id).version for job_id in ids] == ["7", None]


def test_attempt_commits_with_the_transaction_of_the_handler(queue: Queue) -> None:
    job = queue.claimed()
    with pytest.raises(ZeroDivisionError), job.transaction():
        raise ZeroDivisionError
    assert kept(queue, job.id) == []

    with job.transaction():
        pass
    assert outcomes(queue, job.id) == [(1, "done")]


@pytest.mark.fault(
    "finish",
    r"from ended\n\)",
    "from (select *, clock_timestamp() as deleted from minutehand.jobs_live) e\n)",
)
def test_lost_claim_stores_no_attempt(queue: Queue) -> None:
    slow = queue.claimed()
    queue.pass_time(slow.id)
    (owner,) = queue.take()
    before = outcomes(queue, slow.id)

    assert [finish(slow, each).ending for each in (Done(), Failed(ERROR), Released())] == ["lost"] * 3
    with pytest.raises(LostError), slow.transaction():
        pass
    assert outcomes(queue, slow.id) == before == [(1, "lapsed")]
    finish(owner, Done())
    assert outcomes(queue, slow.id) == [(1, "lapsed"), (2, "done")]


def invited(queue: Queue) -> list[Job]:
    return queue.claim(*queue.offer())


@pytest.mark.fault("claim", r"lapsed = coalesce\(j.claimed, j.lapsed\), ", "")
@pytest.mark.fault("take", r"lapsed = coalesce\(j.claimed, j.lapsed\),", "")
def test_next_claim_stores_the_lapsed_attempt(queue: Queue) -> None:
    for again in (Queue.take, invited):
        dead = queue.claimed()
        queue.pass_time(dead.id)
        assert outcomes(queue, dead.id) == []  # its worker may still come back
        (owner,) = again(queue)

        attempt = only(queue, dead.id)
        assert (attempt.attempt, attempt.outcome, attempt.started) == (1, "lapsed", dead.claimed)
        assert (attempt.worker, attempt.error) == (None, None)
        assert attempt.ended >= owner.claimed
        finish(owner, Done())


def test_each_lapsed_claim_is_stored_once(queue: Queue) -> None:
    job = queue.claimed()
    for _ in range(3):
        queue.pass_time(job.id)
        (job,) = queue.take()
    finish(job, Failed(ERROR, delay=timedelta()))
    queue.pass_time(job.id)
    (job,) = queue.take()
    finish(job, Done())

    assert outcomes(queue, job.id) == [
        (1, "lapsed"), (2, "lapsed"), (3, "lapsed"), (4, "retrying"), (5, "done")
    ]  # fmt: skip


def test_accepted_late_finish_is_not_stored_as_lapsed(queue: Queue) -> None:
    late = queue.claimed()
    queue.pass_time(late.id)
    queue.offer()
    finish(late, Done())

    assert outcomes(queue, late.id) == [(1, "done")]


def test_concurrent_claims_of_an_offer_store_one_lapsed_attempt(queue: Queue) -> None:
    ids = []
    for _ in range(5):
        ids.append(queue.claimed().id)
    for job_id in ids:
        queue.pass_time(job_id)
    offers = queue.offer()

    races = [queue.let(queue.claim, *offers, database=queue.another()) for _ in range(6)]

    assert sum(len(race.result()) for race in races) == 5
    assert [outcomes(queue, job_id) for job_id in ids] == [[(1, "lapsed")]] * 5


@pytest.mark.fault("reap", r"from reaped where lapsed is not null", "from reaped where false")
def test_last_attempt_of_a_reaped_job_is_stored_as_lapsed(queue: Queue) -> None:
    job = queue.claimed(max_attempts=1)
    queue.pass_time(job.id)
    run_maintenance(queue.database)

    assert queue.row(job.id).state == "dead"
    assert outcomes(queue, job.id) == [(1, "lapsed")]


@pytest.mark.fault("cancel", r"case when coalesce\(j.claimed.*? end", "null")
@pytest.mark.fault("promote", r"lapsed = coalesce\(claimed, lapsed\),", "")
@pytest.mark.fault("reschedule", r"lapsed = coalesce\(claimed, lapsed\),", "")
def test_lapsed_attempt_is_stored_after_any_operation(queue: Queue) -> None:
    for meddle in (promote, lambda d, ids: reschedule(d, ids, delay=timedelta())):
        job = queue.claimed()
        queue.pass_time(job.id)
        meddle(queue.database, [job.id])
        (job,) = queue.take()
        finish(job, Done())
        assert outcomes(queue, job.id) == [(1, "lapsed"), (2, "done")]
    job = queue.claimed()
    queue.pass_time(job.id)
    cancel(queue.database, [job.id])

    assert outcomes(queue, job.id) == [(1, "lapsed")]


def test_attempt_uses_the_default_partition_if_the_day_is_missing(queue: Queue) -> None:
    days = queue.sql(
        "select oid::regclass::text as name from pg_class where relname ~ '^(jobs_done|attempts)_[0-9]{8}$'"
    )
    for day in days:
        queue.sql(f"drop table {day['name']}")  # type: ignore[arg-type]

    job_id, ending = queue.attempt(lambda _: "well")
    dead = queue.claimed(max_attempts=1)
    queue.pass_time(dead.id)
    run_maintenance(queue.database)

    assert (ending.ending, queue.row(job_id).state, queue.row(dead.id).state) == ("done", "done", "dead")
    homes = queue.sql("select distinct tableoid::regclass::text as home from minutehand.attempts")
    assert [row["home"] for row in homes] == ["minutehand.attempts_default"]


# What an attempt had so far


def half_way(error: BaseException | None = None) -> Callable[[Any, Job], None]:
    def handler(_payload: Any, job: Job) -> None:
        job.result = {"sent": 3}
        if error is not None:
            raise error

    return handler


@pytest.mark.parametrize(
    ("handler", "ending"),
    [
        (raising(Fail("no", result={"sent": 3})), "dead"),
        (raising(RetryAfter(LONG, result={"sent": 3})), "retrying"),
        (half_way(ValueError("no")), "retrying"),
        (half_way(Fail("no")), "dead"),
        (half_way(Cancel("enough")), "cancelled"),
    ],
    ids=["said by Fail", "said by RetryAfter", "set before an error", "set before Fail", "set before Cancel"],
)
def test_failure_stores_its_partial_result(queue: Queue, handler: Callable[..., Any], ending: str) -> None:
    job_id, made = queue.attempt(handler)

    attempt = only(queue, job_id)
    assert made.ending == ending
    assert queue.row(job_id).result == attempt.result == {"sent": 3}


def test_partial_result_survives_failure_but_not_success(queue: Queue) -> None:
    died, done = queue.enqueue(max_attempts=2), queue.enqueue()
    for job in queue.take(2):
        finish(job, Failed(ERROR, delay=timedelta(), result='{"sent": 3}'))
        queue.pass_time(job.id)
    for job in queue.take(2):
        finish(job, Failed(ERROR) if job.id == died else Done())

    assert (queue.row(died).state, queue.row(died).result) == ("dead", {"sent": 3})
    assert (queue.row(done).state, queue.row(done).result) == ("done", None)


def test_result_that_is_not_json_does_not_hide_the_error(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Fail("the reason", result=object())))

    row = queue.row(job_id)
    assert (ending.ending, row.result) == ("dead", None)
    assert row.error is not None
    assert row.error["type"] == "Fail"
    assert row.error["message"].startswith("the reason (the result was not stored")


def test_handler_that_returns_none_keeps_the_result_it_set(queue: Queue) -> None:
    job_id, _ = queue.attempt(half_way())

    assert queue.row(job_id).result == {"sent": 3}


def test_failed_transaction_restores_the_earlier_result(queue: Queue) -> None:
    def handler(_payload: Any, job: Job) -> None:
        job.result = {"sent": 3}
        with job.transaction():
            job.result = {"sent": 4}
            raise ValueError("no")

    job_id, _ = queue.attempt(handler)

    assert queue.row(job_id).result == {"sent": 3}


# What is personal


def end_in_sql(queue: Queue, job: Job) -> None:
    queue.sql("update minutehand.jobs set deleted = now() where id = %(id)s", id=job.id)


def superseded(queue: Queue, job: Job) -> None:
    queue.enqueue(key=job.key)
    assert finish(job, Failed(ERROR)).ending == "superseded"


def buried(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    assert run_maintenance(queue.database).reaped


def cancelled_by_hand(queue: Queue, job: Job) -> None:
    queue.pass_time(job.id)
    cancel(queue.database, [job.id])


ENDS: dict[str, Callable[[Queue, Job], object]] = {
    "done": lambda _, job: finish(job, Done('"the result stays"')),
    "dead": lambda _, job: finish(job, Failed(ERROR, final=True)),
    "superseded": superseded,
    "buried": buried,
    "cancelled": cancelled_by_hand,
    "in SQL": end_in_sql,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_personal_payload_is_cleared_by_every_way_to_finish(
    queue: Queue, end: Callable[[Queue, Job], object]
) -> None:
    def carried(job: Job) -> tuple[object, object]:
        (row,) = queue.sql("select payload, headers from minutehand.jobs where id = %(id)s", id=job.id)
        return row["payload"], row["headers"]

    personal = queue.claimed(
        payload={"name": "Ada"}, headers={"to": "Ada"}, key="a", max_attempts=1 if end is buried else 8
    )
    queue.sql("update minutehand.jobs_live set personal = true where id = %(id)s", id=personal.id)
    end(queue, personal)
    for job in queue.take(10):
        finish(job, Done())
    other = queue.claimed(
        payload={"name": "Ada"}, headers={"to": "Ada"}, key="b", max_attempts=1 if end is buried else 8
    )
    end(queue, other)

    assert queue.row(personal.id).state in ("done", "dead", "cancelled")
    assert carried(personal) == (None, None)
    assert carried(other) == ({"name": "Ada"}, {"to": "Ada"})


def test_personal_payload_is_kept_until_the_job_is_finished(queue: Queue) -> None:
    job_id = queue.enqueue(payload={"name": "Ada"})
    queue.sql("update minutehand.jobs_live set personal = true where id = %(id)s", id=job_id)
    for outcome in (Failed(ERROR), Released()):
        (job,) = queue.take()
        assert job.payload == {"name": "Ada"}
        finish(job, outcome)
        queue.pass_time(job_id)

    (job,) = queue.take()
    assert job.payload == {"name": "Ada"}
