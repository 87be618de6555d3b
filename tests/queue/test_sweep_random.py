"""Random pauses, limits, tenants, kinds and keys: every job that may start does so within a bounded number of ticks."""

from collections.abc import Callable
from math import ceil
from random import Random
from threading import Barrier
from typing import Any

import pytest

from minutehand import Job
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit, pause
from tests.queue.scan import STEP, SWEEP, fill, read_few_rows
from tests.queue.stage import Queue
from tests.thorough import amount

QUEUES, TENANTS, KINDS, PRIORITIES = ("mail", "other"), ("", "a", "b", "c"), ("slow", "quick", "rare"), (4, 5)
FILL = """
insert into minutehand.jobs_live (queue, priority, kind, tenant, key, run_at, visible)
select %(queue)s, %(priority)s, %(kind)s, %(tenant)s, case when n = 1 then %(key)s::text end, moment, moment
  from (select n, now() - interval '1 hour' + %(place)s * interval '1 s' + %(spread)s * n * interval '1 ms' as moment
          from generate_series(1, %(count)s) n) made
on conflict do nothing
"""
MATCHES = """c.tenant in ('', {0}.tenant) and c.queue in ('', {0}.queue) and c.kind in ('', {0}.kind)
             and c.key in ('', coalesce({0}.key, ''))"""
BUSY = f"""(select count(*) from minutehand.jobs_live b
             where coalesce(b.offered, b.claimed) is not null and b.visible > now() and {MATCHES.format("b")})"""
LEFT = f"""
select count(*) as jobs
  from minutehand.jobs_live j
 where j.visible <= now()
   and not exists (select from minutehand.controls c
                    where {MATCHES.format("j")} and (c.paused or c.max_running <= {BUSY}))"""
EXCEEDED = f"select c.* from minutehand.controls c where c.max_running < {BUSY}"
FINISH = "update minutehand.jobs set deleted = now() where id = any (%(ids)s)"


def prepare(queue: Queue, random: Random) -> int:
    """Enqueue blocks of similar jobs, and pause and limit some; return how many sweeps read all streams once."""
    read_few_rows(queue)
    for place in range(12):
        queue.sql(
            FILL,
            queue=random.choice(QUEUES),
            priority=random.choice(PRIORITIES),
            kind=random.choice(KINDS),
            tenant=random.choice(TENANTS),
            key=random.choice((None, "k")),
            place=place,
            spread=random.choice((0, 1)),
            count=random.randint(1, 30),
        )
    for _ in range(random.randint(1, 5)):
        control(queue, random)
    (row,) = queue.sql("select count(*) as jobs from minutehand.jobs_live")
    streams = len(QUEUES) * len(PRIORITIES) * len(TENANTS)
    # A tenant's jobs are read with its part, and with the part of the jobs without a tenant.
    return ceil((2 * row["jobs"] + STEP * streams) / SWEEP) + 2


def control(queue: Queue, random: Random) -> None:
    """Pause or limit something."""
    names = {"queue": QUEUES, "tenant": TENANTS[1:], "kind": KINDS, "key": ("k",)}
    chosen = random.sample(sorted(names), random.randint(1, 2))
    scope: dict[str, Any] = {name: random.choice(names[name]) for name in chosen}
    if random.random() < 0.5:
        pause(queue.database, **scope)
    else:
        limit(queue.database, random.randint(0, 3), **scope)


def by_offer(queue: Queue) -> list[Any]:
    return [offer.id for offer in queue.offer(1000)]


def by_small_offer(queue: Queue) -> list[Any]:
    """Offer to three workers, which finish their jobs before the next tick."""
    ids = [offer.id for offer in queue.offer(3)]
    queue.sql(FINISH, ids=ids)
    return ids


def by_take(queue: Queue) -> list[Any]:
    queue.sql("update minutehand.positions set swept = swept - interval '1 second'")
    return [job.id for name in QUEUES for job in queue.take(3, name)]


@pytest.mark.thorough
@pytest.mark.parametrize("start", [by_offer, by_small_offer, by_take])
@pytest.mark.parametrize("seed", range(amount(6, 200)))
def test_no_job_that_may_start_waits(queue: Queue, seed: int, start: Callable[[Queue], list[Any]]) -> None:
    start_all(queue, seed, start)


@pytest.mark.fault("functions/blocked", r"case when c\.is_long then p\.swept else moment end", "moment")
def test_tenants_that_a_tick_did_not_reach_are_swept_later(queue: Queue) -> None:
    """Found by the test above: of eight parts, each tick sweeps six."""
    start_all(queue, 190, by_small_offer)


def start_all(queue: Queue, seed: int, start: Callable[[Queue], list[Any]]) -> None:
    """Start all jobs that may start, and check that no round of sweeps passes without one."""
    lap = prepare(queue, Random(seed))
    waited = 0
    while queue.sql(LEFT)[0]["jobs"]:
        started = start(queue)
        waited = 0 if started else waited + 1
        assert waited <= lap
        assert queue.sql(EXCEEDED) == []


@pytest.mark.every_server
def test_trap_eight_sessions_behind_blocked_jobs_never_exceed_a_limit(queue: Queue) -> None:
    """Four dispatchers and four takers sweep the same lane."""
    read_few_rows(queue)
    fill(queue, 4 * SWEEP)
    pause(queue.database, kind="slow")
    fill(queue, 60, kind="quick", spread=False)
    fill(queue, 10, kind="rare")
    limit(queue.database, 2, kind="quick")
    queue.sql("update minutehand.jobs_live set visible = visible + interval '1 minute' where kind <> 'slow'")
    barrier = Barrier(8, timeout=60)

    def session(place: int) -> int:
        database, most = queue.another(), 0
        barrier.wait()
        for _ in range(30):
            jobs: list[Job] = []
            if place % 2:
                jobs = queue.take(2, "mail", database=database)
            else:
                jobs = queue.claim(*queue.offer(50, database=database), database=database)
            most = max(most, *(queue_busy(queue)))
            assert {finish(job, Done()).ending for job in jobs} <= {"done"}
        return most

    seen = [each.result() for each in [queue.start(session, place) for place in range(8)]]
    (done,) = queue.sql(
        "select count(*) filter (where kind = 'slow') as slow, count(*) as all from minutehand.jobs_done"
    )

    assert max(seen) <= 2
    assert done["slow"] == 0
    assert done["all"] > 8


def queue_busy(queue: Queue) -> list[int]:
    """Return the number of offered or running jobs under each limit."""
    return [
        row["busy"]
        for row in queue.sql(f"select {BUSY} as busy from minutehand.controls c where not c.paused")
    ]
