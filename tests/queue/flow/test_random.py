"""Flow control under eight dispatchers and twenty workers, with a checker that does not read the tables."""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from minutehand.operations.controls import limit
from tests.queue.flow.checker import beyond_limit, check, too_early
from tests.queue.flow.fates import Fates
from tests.queue.flow.sessions import DISPATCHERS, HOUR, WORKERS, Worker, run_session
from tests.queue.flow.stage import MAX_ATTEMPTS, Stage
from tests.queue.stage import Queue
from tests.thorough import amount

# What the limit per group of each queue declares; no breaker closes by itself during a run.
RULES: dict[str, dict[str, Any]] = {
    "plain": {"limit": 1},
    "wide": {"limit": 3},
    "ordered": {"limit": 1, "in_order": True},
    "frail": {"limit": 3, "break_after": 3},
    "strict": {"limit": 1, "in_order": True, "break_after": 2},
    "rated": {"limit": 5, "rate": 10, "burst": 3},
}
# Other limits, of the jobs without a group.
LIMITS: list[dict[str, Any]] = [
    {"limit": 2, "per": "tenant", "queue": "tenants"},
    {"limit": 1, "per": "key", "queue": "keys"},
    {"limit": 4, "queue": "narrow"},
    {"limit": 2, "queue": "narrow", "tenant": "x"},
]
SEEDS = range(amount(1, 30))
JOBS = amount(120, 600)
LEFT = "select count(*) as jobs from minutehand.jobs_live"
OUTCOMES = """select count(*) filter (where failed) as failed, count(*) filter (where not failed) as done
                from minutehand.jobs_done"""


def declare(queue: Queue) -> None:
    for name, rules in RULES.items():
        others: Any = {"period": timedelta(seconds=1)} if "rate" in rules else {}
        others |= {"break_for": HOUR} if "break_after" in rules else {}
        limit(queue.database, per="group", queue=name, **rules, **others)
    for each in LIMITS:
        limit(queue.database, **each)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_flow_control_is_never_violated_and_never_stuck(queue: Queue, seed: int) -> None:
    """Groups, limits, rates, breakers, Retry-After, successors and batches, under failures, lost and late attempts."""
    declare(queue)
    stage = Stage(queue, seed, grouped=tuple(RULES), keyed=("keys",), others=("tenants", "narrow"))
    for _ in range(JOBS // 2):
        stage.enqueue(queue.database, stage.random)
    for _ in range(JOBS // 20):
        stage.batch(queue.database, stage.random, 10)
    stage.most_added = JOBS // 3
    barrier = Barrier(DISPATCHERS + WORKERS, timeout=60)
    calls = [queue.start(run_session, stage, number, barrier) for number in range(DISPATCHERS + WORKERS)]
    for call in calls:
        call.result()
    Worker(stage, DISPATCHERS).end_frozen(list(stage.frozen))

    assert queue.sql(LEFT) == [{"jobs": 0}]
    ledger, runs = stage.ledger, stage.ledger.runs()
    fates, groups = Fates(ledger, MAX_ATTEMPTS), ledger.by_group()
    found = [wrong for place in groups for wrong in check(ledger, place, groups[place], **RULES[place[0]])]
    found += [wrong for each in LIMITS for wrong in beyond_limit(ledger, runs, **each)]
    found += [*fates.check(runs), *(f"{job}: before a predecessor" for job in too_early(ledger, runs))]
    assert not found, "\n".join(found)
    (outcomes,) = queue.sql(OUTCOMES)
    states = [fates.state(job) for job in ledger.jobs]
    assert outcomes == {"done": states.count("done"), "failed": len(states) - states.count("done")}
