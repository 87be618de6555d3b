"""Why, for jobs under a reached limit: the place in line, and when the next place is expected to be free."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit
from minutehand.queries.why import Answer, why
from minutehand.queries.why.evidence import MAX_READ
from tests.queue.stage import Queue
from tests.queue.test_why import HOUR, TICKED

MEDIAN = timedelta(seconds=30)
DUE = """insert into minutehand.jobs_live (kind, run_at, visible)
         select 'other', now() - interval '1 hour', now() - interval '1 hour' from generate_series(1, %(count)s)"""


def ended(queue: Queue, *seconds: int, kind: str = "echo", **options: str) -> None:
    """Let jobs of a kind end that held their places for so long."""
    for each in seconds:
        job = queue.claimed(kind, **options)
        finish(job, Done())
        queue.sql(
            "update minutehand.jobs set claimed = deleted - %(took)s where id = %(id)s",
            took=timedelta(seconds=each),
            id=job.id,
        )


def third(queue: Queue, **options: str) -> UUID:
    """Enqueue three jobs; return the last one."""
    for _ in range(2):
        queue.enqueue(**options)
    return queue.enqueue(**options)


def of_a_kind(queue: Queue) -> UUID:
    limit(queue.database, 1, kind="echo")
    queue.claimed()
    queue.enqueue("other", priority=9)
    return third(queue)


def of_a_group(queue: Queue) -> UUID:
    limit(queue.database, 1, per="group", queue="default")
    queue.claimed("short", group="other")
    queue.claimed(group="acme")
    queue.enqueue(group="other")
    return third(queue, group="acme")


def of_a_group_without_limit(queue: Queue) -> UUID:
    queue.claimed(group="acme")
    return third(queue, group="acme")


def of_a_tenant(queue: Queue) -> UUID:
    limit(queue.database, 1, per="tenant")
    queue.claimed(tenant="acme")
    queue.enqueue(tenant="other")
    return third(queue, tenant="acme")


def of_a_queue(queue: Queue) -> UUID:
    limit(queue.database, 1, queue="default")
    queue.claimed()
    return third(queue)


def of_offered(queue: Queue) -> UUID:
    limit(queue.database, 1, kind="echo")
    queue.enqueue()
    queue.offer()
    return third(queue)


WITHIN_QUEUE = [of_a_group, of_a_group_without_limit, of_a_queue]
ACROSS_QUEUES = [of_a_kind, of_a_tenant, of_offered]


def explained(queue: Queue, arrange: Callable[[Queue], UUID]) -> Answer:
    """Explain the job that a function enqueues."""
    queue.sql(TICKED)
    answer = why(queue.database, arrange(queue))
    assert answer.reason == "limited"
    return answer


@pytest.mark.parametrize("arrange", WITHIN_QUEUE + ACROSS_QUEUES)
def test_why_estimates_when_a_limit_has_room(queue: Queue, arrange: Callable[[Queue], UUID]) -> None:
    ended(queue, 10, 30, 50)
    # It ends sooner, and is not under the limit.
    ended(queue, 5, kind="short")
    queue.claimed("short", queue="mail")
    answer = explained(queue, arrange)

    (now,) = queue.sql("select now() as now")
    line = "line within its queue" if arrange in ACROSS_QUEUES else "line"
    assert (
        f"; this one is number 3 in {line}, and the next place is expected to be free in " in answer.sentence
    )
    assert "(an estimate: the median of 3 jobs of kind echo in the last hour is 30 s)." in answer.sentence
    assert answer.evidence["ahead"] == 2
    assert answer.evidence["is_estimate"] is True
    assert timedelta() < answer.evidence["next_free"] - now["now"] <= MEDIAN


def no_history(_: Queue) -> None:
    """Nothing ended."""


def old_history(queue: Queue) -> None:
    ended(queue, 30)
    queue.sql(
        """update minutehand.jobs set deleted = deleted - %(by)s, claimed = claimed - %(by)s
            where deleted is not null""",
        by=HOUR,
    )


def shorter(queue: Queue) -> None:
    ended(queue, 0)


@pytest.mark.parametrize("history", [no_history, old_history, shorter])
@pytest.mark.parametrize("arrange", [of_a_kind, of_a_group])
def test_why_names_the_end_of_a_lease_without_estimate(
    queue: Queue, arrange: Callable[[Queue], UUID], history: Callable[[Queue], None]
) -> None:
    history(queue)
    answer = explained(queue, arrange)

    (lease,) = queue.sql(
        "select id, visible from minutehand.jobs_live where claimed is not null and kind = 'echo'"
    )
    assert ", and the next place is free when a job under the limit ends, or in " in answer.sentence
    assert f", when the lease of echo ({lease['id']}) ends; that job started " in answer.sentence
    assert answer.evidence["freed_by"] == str(lease["id"])
    assert answer.evidence["next_free"] == lease["visible"]
    assert answer.evidence["is_estimate"] is False


def test_why_names_the_next_job_of_a_key(queue: Queue) -> None:
    def of_a_key(queue: Queue) -> UUID:
        limit(queue.database, 1, per="key")
        queue.claimed(key="ada")
        queue.enqueue()
        return queue.enqueue(key="ada")

    ended(queue, 30)
    answer = explained(queue, of_a_key)

    assert "; this one is the next in line, and the next place is expected to be free in " in answer.sentence


def test_why_says_that_a_limit_of_0_starts_nothing(queue: Queue) -> None:
    def of_none(queue: Queue) -> UUID:
        limit(queue.database, 0, kind="echo")
        return queue.enqueue()

    sentence = explained(queue, of_none).sentence

    assert sentence.endswith(
        ": 0 jobs are offered or running; no job under it starts until the limit is raised."
    )


def test_why_counts_a_bounded_number_of_jobs_before(queue: Queue) -> None:
    def behind_many(queue: Queue) -> UUID:
        job = of_a_kind(queue)
        queue.sql(DUE, count=MAX_READ)
        return job

    answer = explained(queue, behind_many)

    assert "; this one is at least number " in answer.sentence


class Rate(NamedTuple):
    """A rate of each tenant, or of all jobs."""

    options: dict[str, Any]
    job: dict[str, str]


@pytest.mark.parametrize("rate", [Rate({"kind": "echo"}, {}), Rate({"per": "tenant"}, {"tenant": "acme"})])
def test_why_names_the_place_under_a_rate(queue: Queue, rate: Rate) -> None:
    limit(queue.database, rate=1, period=HOUR, **rate.options)
    queue.sql(TICKED)
    queue.claimed(**rate.job)
    queue.enqueue("other")

    answer = why(queue.database, third(queue, **rate.job))

    assert answer.reason == "rate"
    assert answer.sentence.endswith(" at the earliest, and this one is number 3 in line within its queue.")


def test_why_names_the_end_of_an_offer_without_estimate(queue: Queue) -> None:
    assert ", when the offer of echo (" in explained(queue, of_offered).sentence
