"""Flow control under eight dispatchers and twenty workers, with a checker that does not read the tables."""

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random
from threading import Barrier
from typing import Any

import pytest

from minutehand.operations.controls import limit
from tests.queue.flow.checker import check, too_early
from tests.queue.flow.sessions import DISPATCHERS, WORKERS, Stage
from tests.queue.stage import Queue
from tests.thorough import amount

HOUR = timedelta(hours=1)
# What the limit per group of each queue declares; no breaker closes by itself during a run.
RULES: dict[str, dict[str, Any]] = {
    "plain": {"limit": 1},
    "wide": {"limit": 3},
    "ordered": {"limit": 1, "in_order": True},
    "frail": {"limit": 3, "break_after": 3},
    "strict": {"limit": 1, "in_order": True, "break_after": 2},
    "rated": {"limit": 5, "rate": 10, "burst": 3},
}
SEEDS = range(amount(1, 30))
JOBS = amount(120, 600)
LEFT = "select count(*) as jobs from minutehand.jobs_live"
OUTCOMES = """select count(*) filter (where failed) as failed, count(*) filter (where not failed) as done
                from minutehand.jobs_done"""

FILL = """insert into minutehand.jobs_live (kind, "group", run_at, visible)
          select 'echo', %(group)s, now() - interval '1 hour', now() - interval '1 hour'
            from generate_series(1, 300)"""


def declare(queue: Queue) -> None:
    for name, rules in RULES.items():
        others: Any = {"period": timedelta(seconds=1)} if "rate" in rules else {}
        others |= {"break_for": HOUR} if "break_after" in rules else {}
        limit(queue.database, per="group", queue=name, **rules, **others)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_flow_control_is_never_violated_and_never_stuck(queue: Queue, seed: int) -> None:
    """Groups, rates, breakers, Retry-After, successors and failures, in sessions at the same time."""
    declare(queue)
    stage = Stage(queue, seed, tuple(RULES), most_successors=JOBS // 3)
    for _ in range(JOBS):
        stage.enqueue(queue.database, stage.random)
    barrier = Barrier(DISPATCHERS + WORKERS)
    calls = [queue.start(stage.session, number, barrier) for number in range(DISPATCHERS + WORKERS)]
    for each in calls:
        each.result()

    assert queue.sql(LEFT) == [{"jobs": 0}]
    (outcomes,) = queue.sql(OUTCOMES)
    assert outcomes["done"] + outcomes["failed"] == len(stage.ledger.jobs)
    runs = stage.ledger.runs()
    found = [wrong for place in runs for wrong in check(stage.ledger, place, runs[place], **RULES[place[0]])]
    assert found == []
    assert too_early(stage.ledger, [run for each in runs.values() for run in each]) == []


@pytest.mark.fault("functions/limits", r"count\(\*\) \* extract", "0 * extract")
@pytest.mark.parametrize(("burst", "least"), [(1, 0), (10, 0.99)])
def test_rate_holds_within_one_percent_over_a_minute(queue: Queue, burst: int, least: float) -> None:
    """Eight dispatchers at each of some times of one minute. Without a burst, the time between two of them is lost."""
    rate = 120
    limit(queue.database, 1000, per="group", rate=rate, period=timedelta(minutes=1), burst=burst)
    for group in ("a", "b"):
        queue.sql(FILL, group=group)
    (row,) = queue.sql("select clock_timestamp() as now")
    random, times = Random(burst), amount(25, 120)
    sessions = [queue.another() for _ in range(DISPATCHERS)]
    starts: dict[str, list[datetime]] = defaultdict(list)
    for number in range(times):
        moment = row["now"] + timedelta(minutes=1) * (number + random.random()) / times
        calls = [queue.start(queue.offer, 1000, session, moment) for session in sessions]
        ids = [offer.id for call in calls for offer in call.result()]
        for started in queue.sql('select "group" from minutehand.jobs where id = any (%(ids)s)', ids=ids):
            starts[started["group"]].append(moment)

    for moments in starts.values():
        assert least * rate <= len(moments) <= 1.01 * rate + burst
    assert set(starts) == {"a", "b"}
