"""A lapsed attempt is stored when the next claim, operation or reaping finds it."""

from datetime import timedelta

import pytest

from minutehand import Job
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import cancel, promote, reschedule
from tests.queue.attempts.stage import attempts_of, only_attempt, outcomes
from tests.queue.stage import Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def claim_offers(queue: Queue) -> list[Job]:
    return queue.claim(*queue.offer())


@pytest.mark.fault("claim", r"lapsed = coalesce\(j.claimed, j.lapsed\), ", "")
@pytest.mark.fault("take", r"lapsed = coalesce\(j.claimed, j.lapsed\),", "")
def test_next_claim_stores_the_lapsed_attempt(queue: Queue) -> None:
    for claim in (Queue.take, claim_offers):
        dead = queue.claimed()
        queue.pass_time(dead.id)
        # Its worker may still finish.
        assert outcomes(queue, dead.id) == []
        (owner,) = claim(queue)

        attempt = only_attempt(queue, dead.id)
        assert (attempt.attempt, attempt.outcome, attempt.started) == (1, "lapsed", dead.claimed)
        assert (attempt.worker, attempt.error) == (None, None)
        assert attempt.ended >= owner.claimed
        finish(owner, Done())


@pytest.mark.fault("claim", r"coalesce\(j.claimed, j.lapsed\)", "coalesce(j.lapsed, j.claimed)")
@pytest.mark.fault("take", r"coalesce\(j.claimed, j.lapsed\)", "coalesce(j.lapsed, j.claimed)")
@pytest.mark.fault("release", "lapsed = null", "lapsed = lapsed")
def test_each_lapsed_claim_is_stored_once(queue: Queue) -> None:
    job = queue.claimed()
    claims = [job.claimed]
    for claim in (Queue.take, claim_offers, Queue.take, claim_offers):
        queue.pass_time(job.id)
        (job,) = claim(queue)
        claims.append(job.claimed)
    finish(job, Failed(ERROR, delay=timedelta()))
    queue.pass_time(job.id)
    (job,) = queue.take()
    finish(job, Done())

    expected = ["lapsed"] * 4 + ["retrying", "done"]
    assert outcomes(queue, job.id) == list(enumerate(expected, 1))
    assert [each.started for each in attempts_of(queue, job.id)][:4] == claims[:4]


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

    races = [queue.start(queue.claim, *offers, database=queue.another()) for _ in range(6)]

    assert sum(len(race.result()) for race in races) == 5
    assert [outcomes(queue, job_id) for job_id in ids] == [[(1, "lapsed")]] * 5


@pytest.mark.fault("reap", r"from reaped where lapsed is not null", "from reaped where false")
def test_last_attempt_of_a_reaped_job_is_stored_as_lapsed(queue: Queue) -> None:
    job = queue.claimed(max_attempts=1)
    queue.pass_time(job.id)
    run_maintenance(queue.database)

    assert queue.row(job.id).state == "dead"
    assert outcomes(queue, job.id) == [(1, "lapsed")]


@pytest.mark.fault("functions/updates", r"case when coalesce\(j.claimed.*? end", "null")
@pytest.mark.fault("functions/updates", r"(promote_jobs\(ids.*?)lapsed = coalesce\(claimed, lapsed\),", r"\1")
@pytest.mark.fault(
    "functions/updates", r"(reschedule_jobs\(ids.*?)lapsed = coalesce\(claimed, lapsed\),", r"\1"
)
def test_lapsed_attempt_is_stored_after_any_operation(queue: Queue) -> None:
    for operate in (promote, lambda d, ids: reschedule(d, ids, delay=timedelta())):
        job = queue.claimed()
        queue.pass_time(job.id)
        operate(queue.database, [job.id])
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
    tables = queue.sql("select distinct tableoid::regclass::text as name from minutehand.attempts")
    assert [row["name"] for row in tables] == ["minutehand.attempts_default"]
