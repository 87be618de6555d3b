"""Limits: a queue, kind, key or tenant never has more jobs offered or running than its limit."""

from collections import Counter
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from minutehand import InvalidJobError, Job
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit, list_controls, unlimit
from tests.queue.stage import Queue

WHAT = [{"queue": "mail"}, {"kind": "slow"}, {"tenant": "acme"}, {"queue": "mail", "kind": "slow"}]
HOURLY: dict[str, Any] = {"rate": 1, "period": timedelta(hours=1)}
BUSY = """select count(*) as jobs from minutehand.jobs_live
           where queue = 'mail' and coalesce(offered, claimed) is not null and visible > now()"""


def fill(stage: Queue, count: int, **options: Any) -> None:
    for _ in range(count):
        stage.enqueue(**{"queue": "mail", "kind": "slow", "tenant": "acme"} | options)


@pytest.mark.parametrize("what", WHAT, ids=str)
def test_limit_bounds_offers_and_takes_together(queue: Queue, what: dict[str, str]) -> None:
    fill(queue, 5)
    limit(queue.database, 3, **what)  # type: ignore[call-overload]

    first = queue.take(1, "mail")
    offers = queue.offer()
    assert (len(first), len(offers)) == (1, 2)
    assert queue.take(5, "mail") == []
    assert queue.offer() == []
    finish(first[0], Done())
    assert len(queue.take(5, "mail")) == 1
    assert unlimit(queue.database, **what)  # type: ignore[call-overload]
    assert len(queue.offer()) == 1


def test_limit_of_a_key_spans_its_running_and_upcoming_job(queue: Queue) -> None:
    limit(queue.database, 1, key="ada")
    running = queue.claimed(key="ada")
    queue.enqueue(key="ada", payload="next")
    queue.enqueue(key="bob", payload="other")

    assert [job.payload for job in queue.take(5)] == ["other"]
    finish(running, Done())
    assert [job.payload for job in queue.take(5)] == ["next"]


def test_jobs_over_a_limit_do_not_block_others(queue: Queue) -> None:
    fill(queue, 60)
    fill(queue, 2, kind="quick")
    fill(queue, 2, queue="other")
    limit(queue.database, 2, kind="slow", queue="mail")

    assert Counter(offer.kind for offer in queue.offer(capacity=10)) == {"slow": 4, "quick": 2}


@pytest.mark.parametrize("rate", [False, True])
def test_keys_at_their_limit_do_not_block_others(queue: Queue, rate: bool) -> None:
    limit(queue.database, per="key", **(HOURLY if rate else {"limit": 1}))
    for _ in range(2):
        for number in range(6):
            queue.enqueue(key=f"k/{number}")
        queue.claim(*queue.offer(12))
    fill(queue, 6, queue="default", tenant="")

    assert len(queue.offer(12)) == 6
    fill(queue, 1, queue="default", key="k/0")
    assert len(queue.offer(24)) == 1


def test_overlapping_limits_all_hold(queue: Queue) -> None:
    for name in ("mail", "other"):
        fill(queue, 10, queue=name)
        fill(queue, 10, queue=name, kind="quick")
    limit(queue.database, 3, kind="slow")
    limit(queue.database, 4, queue="mail")
    limit(queue.database, 0, queue="other", kind="quick")
    offers = queue.offer(capacity=20)
    made = Counter((offer.queue, offer.kind) for offer in offers)

    assert made["mail", "slow"] + made["other", "slow"] == 3
    assert made["mail", "slow"] + made["mail", "quick"] == 4
    assert made["other", "quick"] == 0
    assert queue.offer(capacity=20) == []


def test_lowered_limit_lets_running_jobs_finish(queue: Queue) -> None:
    fill(queue, 3)
    running = queue.take(2, "mail")
    limit(queue.database, 1, queue="mail")

    assert queue.offer() == []
    finish(running[0], Done())
    assert queue.offer() == []
    finish(running[1], Done())
    assert len(queue.offer()) == 1


def test_limit_and_capacity_both_apply(queue: Queue) -> None:
    fill(queue, 20)
    limit(queue.database, 5, queue="mail")

    assert len(queue.offer(capacity=3)) == 3
    assert len(queue.offer(capacity=100)) == 2


@pytest.mark.every_server
def test_budget_that_equals_the_limit_does_not_lift_it(queue: Queue) -> None:
    fill(queue, 5)
    limit(queue.database, 2, queue="mail")

    offers = queue.database.run(
        "offer", capacity=20, queues=["mail"], budgets=[2], ttl=timedelta(minutes=2), now=None
    )

    assert len(offers) == 2


@pytest.mark.every_server
@pytest.mark.parametrize("what", [{"queue": "mail"}, {"kind": "slow"}], ids=str)
def test_trap_eight_concurrent_sessions_never_exceed_a_limit(queue: Queue, what: dict[str, str]) -> None:
    """Eight sessions that count outside the lock exceed a limit of 2."""
    fill(queue, 200)
    limit(queue.database, 2, **what)  # type: ignore[call-overload]
    barrier = Barrier(8, timeout=60)

    def session(place: int) -> int:
        database, most = queue.another(), 0
        barrier.wait()
        for _ in range(12):
            jobs: list[Job] = []
            if place % 2:
                jobs = queue.take(2, "mail", database=database)
            else:
                jobs = queue.claim(*queue.offer(50, database=database), database=database)
            (busy,) = database.connection.execute(BUSY).fetchone()  # type: ignore[misc]
            most = max(most, busy)
            for job in jobs:
                assert finish(job, Done()).ending == "done"
        return most

    seen = [each.result() for each in [queue.start(session, place) for place in range(8)]]
    (left,) = queue.sql("select count(*) as done from minutehand.jobs_done")

    assert max(seen) == 2
    assert left["done"] > 8


@pytest.mark.fault("functions/counting", "order by q.queue\n        for update;", ";")
def test_take_counts_after_a_concurrent_take(queue: Queue) -> None:
    fill(queue, 5)
    limit(queue.database, 1, queue="mail")
    # From now on, the row that counts are locked by exists.
    assert finish(queue.take(1, "mail")[0], Done()).ending == "done"
    other = queue.another()
    with other.transaction():
        first = queue.take(5, "mail", database=other)
        second, offering = queue.start(queue.take, 5, "mail"), queue.start(queue.offer, 10, queue.another())
        queue.until_done_or_waiting(second)
        waited = not second.done()

    assert waited
    assert len(first) + len(second.result()) + len(offering.result()) == 1


@pytest.mark.parametrize("most", [-1, True, 1.5, 2**31])
def test_limit_must_be_a_non_negative_integer(direct_queue: Queue, most: Any) -> None:
    with pytest.raises(InvalidJobError):
        limit(direct_queue.database, most, queue="mail")
    assert list_controls(direct_queue.database) == []


@pytest.mark.every_version
def test_tenants_of_one_queue_take_turns(queue: Queue) -> None:
    fill(queue, 50, tenant="loud")
    for tenant in ("b", "c", ""):
        fill(queue, 2, tenant=tenant)

    def turns(capacity: int) -> dict[str, int]:
        ids = [offer.id for offer in queue.offer(capacity)]
        rows = queue.sql(
            "select tenant, count(*) as jobs from minutehand.jobs where id = any (%(ids)s) group by 1",
            ids=ids,
        )
        return {row["tenant"]: row["jobs"] for row in rows}

    assert turns(4) == {"loud": 1, "b": 1, "c": 1, "": 1}
    assert turns(20) == {"loud": 13, "b": 1, "c": 1, "": 1}


def test_priority_orders_jobs_within_a_tenant_only(
    queue: Queue,
) -> None:
    fill(queue, 3, tenant="loud")
    fill(queue, 3, tenant="loud", priority=9)
    fill(queue, 3, tenant="b")

    rows = [queue.row(offer.id) for offer in queue.offer(4)]
    assert sorted(row.priority for row in rows) == [5, 5, 9, 9]
