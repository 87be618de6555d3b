"""Shares: tenants of one queue get its offers in proportion to their weights, and no job waits for a backlog."""

from collections import Counter
from typing import Any

import pytest

from minutehand import InvalidJobError
from minutehand.operations.audit import list_audit
from minutehand.operations.shares import list_shares, share, unshare
from tests.queue.scan import fill
from tests.queue.share_error import share_error
from tests.queue.stage import Queue

FINISH = """
update minutehand.jobs set deleted = now() where id = any (%(ids)s) returning tenant
"""


def tick(queue: Queue, capacity: int) -> Counter[str]:
    """Offer to workers that finish their jobs before the next tick; return the number of offers by tenant."""
    ids = [offer.id for offer in queue.offer(capacity)]
    return Counter(row["tenant"] for row in queue.sql(FINISH, ids=ids))


@pytest.mark.fault("functions/choose", r"coalesce\(q.weight, s.weight, 1\) as weight", "1 as weight")
@pytest.mark.parametrize("capacity", [3, 20])
@pytest.mark.parametrize("backlog", [240, 1000], ids=["few due jobs", "a backlog"])
def test_shares_follow_the_weights(queue: Queue, capacity: int, backlog: int) -> None:
    weights = {"a": 1, "b": 2, "c": 5, "": 1}
    for tenant, weight in weights.items():
        fill(queue, backlog, tenant=tenant)
        if tenant and weight > 1:
            share(queue.database, weight, tenant=tenant)
    offered: Counter[str] = Counter()
    # The least share is 40 jobs: one job more or less is an error of 2.5 %.
    while offered.total() < 360:
        offered += tick(queue, capacity)

    assert share_error(offered, weights) <= 0.05


@pytest.mark.parametrize("weight", [1, 1000])
def test_single_job_does_not_wait_for_a_backlog(queue: Queue, weight: int) -> None:
    fill(queue, 500, tenant="loud")
    share(queue.database, weight, tenant="loud")
    for _ in range(3):
        assert tick(queue, 10) == {"loud": 10}
    queue.enqueue("slow", queue="mail", tenant="single")

    assert "single" in tick(queue, 10) + tick(queue, 10)


def test_more_tenants_than_offers_all_get_their_shares(queue: Queue) -> None:
    weights = {f"t{n:02}": 1 for n in range(10)} | {"t07": 3}
    for tenant, weight in weights.items():
        fill(queue, 50 * weight, tenant=tenant)
    share(queue.database, 3, tenant="t07")
    offered: Counter[str] = Counter()
    while offered.total() < 480:
        offered += tick(queue, 6)

    assert share_error(offered, weights) <= 0.05


def test_idle_tenant_gains_nothing(queue: Queue) -> None:
    fill(queue, 200, tenant="a")
    for _ in range(5):
        tick(queue, 10)
    fill(queue, 200, tenant="b")

    assert tick(queue, 10) + tick(queue, 10) == pytest.approx({"a": 10, "b": 10}, abs=1)
    assert queue.sql("select count(*) as rows from minutehand.turn_ends")[0]["rows"] <= 2


@pytest.mark.parametrize("backlog", [150, 1000], ids=["few due jobs", "a backlog"])
def test_weight_in_a_queue_takes_the_place_of_the_others(queue: Queue, backlog: int) -> None:
    share(queue.database, 9, tenant="a")
    share(queue.database, 3, tenant="a", queue="mail")
    share(queue.database, 5, tenant="b", queue="other")
    for tenant in ("a", "b"):
        fill(queue, backlog, tenant=tenant)
    offered: Counter[str] = Counter()
    while offered.total() < 160:
        offered += tick(queue, 8)

    assert share_error(offered, {"a": 3, "b": 1}) <= 0.05


def test_tenant_with_99_percent_of_the_jobs_does_not_delay_others(queue: Queue) -> None:
    """Each of the others has weight 1; the loud one has as well."""
    fill(queue, 4950, tenant="loud")
    others = [f"t{n}" for n in range(5)]
    for tenant in others:
        fill(queue, 45, tenant=tenant)
    offered: Counter[str] = Counter()
    for _ in range(20):
        offered += tick(queue, 12)
    assert share_error(offered, dict.fromkeys(("loud", *others), 1)) <= 0.05
    queue.enqueue("slow", queue="mail", tenant="single")

    assert "single" in tick(queue, 12) + tick(queue, 12)


def test_shares_are_listed_removed_and_audited(queue: Queue) -> None:
    made = share(queue.database, 3, tenant="acme", queue="mail", actor="ada")
    share(queue.database, 2, tenant="")
    assert [each.weight for each in list_shares(queue.database)] == [2, 3]
    assert list_shares(queue.database, after=("", "")) == [made]
    assert list_shares(queue.database, limit=1)[0].tenant == ""

    assert unshare(queue.database, tenant="acme", queue="mail")
    assert not unshare(queue.database, tenant="acme")
    last, *_, first = list_audit(queue.database)
    assert (last.verb, first.actor, first.facts) == (
        "unshare",
        "ada",
        {"tenant": "acme", "queue": "mail", "weight": 3},
    )


@pytest.mark.parametrize("weight", [0, 1001, True, "3"])
def test_weight_must_be_an_integer_from_1_to_1000(queue: Queue, weight: Any) -> None:
    with pytest.raises(InvalidJobError, match="weight must be an integer from 1 to 1000"):
        share(queue.database, weight, tenant="acme")
