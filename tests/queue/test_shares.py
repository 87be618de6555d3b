"""Shares: tenants of one queue get its offers in proportion to their weights, and no job waits for a backlog."""

from collections import Counter

import pytest

from tests.queue.scan import fill
from tests.queue.stage import Queue

FINISH = """
update minutehand.jobs set deleted = now() where id = any (%(ids)s) returning tenant
"""
WEIGHT = "insert into minutehand.shares values (%(tenant)s, %(weight)s)"


def tick(queue: Queue, capacity: int) -> Counter[str]:
    """Offer to workers that finish their jobs before the next tick; return the number of offers by tenant."""
    ids = [offer.id for offer in queue.offer(capacity)]
    return Counter(row["tenant"] for row in queue.sql(FINISH, ids=ids))


@pytest.mark.fault("functions/choose", r"coalesce\(s.weight, 1\) as weight", "1 as weight")
@pytest.mark.parametrize("capacity", [3, 20])
@pytest.mark.parametrize("backlog", [60, 1000], ids=["few due jobs", "a backlog"])
def test_shares_follow_the_weights(queue: Queue, capacity: int, backlog: int) -> None:
    weights = {"a": 1, "b": 2, "c": 5, "": 1}
    for tenant, weight in weights.items():
        fill(queue, backlog, tenant=tenant)
        if tenant and weight > 1:
            queue.sql(WEIGHT, tenant=tenant, weight=weight)
    offered: Counter[str] = Counter()
    while offered.total() < 90:
        offered += tick(queue, capacity)

    for tenant, weight in weights.items():
        assert offered[tenant] / offered.total() == pytest.approx(weight / 9, abs=0.05)


@pytest.mark.parametrize("weight", [1, 1000])
def test_single_job_does_not_wait_for_a_backlog(queue: Queue, weight: int) -> None:
    fill(queue, 500, tenant="loud")
    queue.sql(WEIGHT, tenant="loud", weight=weight)
    for _ in range(3):
        assert tick(queue, 10) == {"loud": 10}
    queue.enqueue("slow", queue="mail", tenant="single")

    assert "single" in tick(queue, 10) + tick(queue, 10)


def test_more_tenants_than_offers_all_get_their_shares(queue: Queue) -> None:
    tenants = [f"t{n:02}" for n in range(30)]
    for tenant in tenants:
        fill(queue, 20, tenant=tenant)
    queue.sql(WEIGHT, tenant="t07", weight=3)
    offered: Counter[str] = Counter()
    for _ in range(16):
        offered += tick(queue, 6)

    assert offered.total() == 96
    assert 7 <= offered["t07"] <= 11
    assert {offered[tenant] for tenant in tenants if tenant != "t07"} <= {2, 3, 4}


def test_idle_tenant_gains_nothing(queue: Queue) -> None:
    fill(queue, 200, tenant="a")
    for _ in range(5):
        tick(queue, 10)
    fill(queue, 200, tenant="b")

    assert tick(queue, 10) + tick(queue, 10) == pytest.approx({"a": 10, "b": 10}, abs=1)
    assert queue.sql("select count(*) as rows from minutehand.turn_ends")[0]["rows"] <= 2
