"""Offers, claims and limits, with exact cases. Ticks are at 0, 60, 120 and so on."""

from typing import Any

import pytest

from minutehand_pipeline.simulate.policy import Limit
from tests.pipeline.simulate.cases import job, simulated, starts, states


def test_lapsed_offer_is_repeated_and_its_event_is_void() -> None:
    jobs = [job(1.0, 130.0, timeout=900), job(2.0)]
    tally = simulated(jobs, concurrency=1, offer_ttl=60.0, worker_timeout=900.0)

    assert tally.began == [60.0, 190.0]
    assert tally.invocations == [4.0]  # at 60 both, at 120 and 180 the second again
    assert states(tally) == {"done": 2}


def test_lapsed_offer_can_be_claimed_until_made_again() -> None:
    jobs = [job(1.0, 70.0, timeout=900), job(2.0)]

    assert starts(jobs, concurrency=1, offer_ttl=65.0, worker_timeout=900.0) == [60.0, 130.0]


def test_lapsed_offer_is_void_if_there_are_limits() -> None:
    jobs = [job(1.0, 70.0, timeout=900), job(2.0)]
    limits = (Limit(queue="default", limit=9),)

    assert starts(jobs, concurrency=1, offer_ttl=65.0, worker_timeout=900.0, limits=limits) == [60.0, 180.0]


def test_queue_with_lapsed_offers_gets_fewer_offers() -> None:
    jobs = [job(1.0, 800.0, timeout=900), *[job(2.0)] * 100]
    tally = simulated(jobs, concurrency=1, offer_ttl=30.0, worker_timeout=900.0, capacity=20)

    # Twenty a tick would be 280 in the fourteen minutes for which nobody answers.
    assert sum(tally.invocations) < 200


@pytest.mark.parametrize(
    "limit",
    [
        Limit(queue="mail", limit=1),
        Limit(kind="slow", limit=1),
        Limit(key="ada", limit=1),
        Limit(queue="mail", key="ada", limit=1),
    ],
    ids=str,
)
def test_limit_delays_only_matching_jobs(limit: Limit) -> None:
    bound: dict[str, Any] = {"queue": "mail", "kind": "slow", "key": "ada"}
    jobs = [job(1.0, **bound), job(1.0, **bound), job(1.0, **bound), job(2.0)]

    assert starts(jobs, limits=(limit,)) == [60.0, 120.0, 180.0, 60.0]


def test_jobs_blocked_by_a_limit_of_0_remain_unfinished() -> None:
    tally = simulated([job(1.0, queue="mail"), job(1.0)], limits=(Limit(queue="mail", limit=0),))

    assert states(tally) == {"unfinished": 1, "done": 1}
