"""The budget: a queue whose workers do not claim its offers gets fewer of them."""

from datetime import datetime, timedelta

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.offer import Budget, withdraw
from tests.queue.stage import Queue

MINUTE = timedelta(minutes=1)
TTL = 2 * MINUTE
CAPACITY = 40


def fill(queue: Queue, jobs: int, name: str = "default") -> datetime:
    """Enqueue jobs; return a time at which they are due."""
    queue.sql(
        "insert into minutehand.lanes (queue, priority) values (%(name)s, 5) on conflict do nothing",
        name=name,
    )
    queue.sql(
        """insert into minutehand.jobs (queue, kind, run_at, visible)
           select %(name)s, 'echo', moment, moment
             from (select clock_timestamp() - n * interval '1 ms' as moment
                     from generate_series(1, %(jobs)s) n) made""",
        name=name,
        jobs=jobs,
    )
    (due,) = queue.sql("select now() + interval '1 second' as now")
    return due["now"]


def run_jobs(queue: Queue, limit: int, now: datetime) -> int:
    """Let workers of the default queue finish some offers, by a clock that the test moves."""
    return len(
        queue.sql(
            """update minutehand.jobs set deleted = %(now)s
                where id in (select id from minutehand.jobs_live
                              where queue = 'default' and ack is not null and visible > %(now)s
                              order by offered limit %(limit)s)
             returning id""",
            now=now,
            limit=limit,
        )
    )


def tick(queue: Queue, now: datetime, capacity: int = CAPACITY) -> tuple[int, int, int]:
    """Tick, and return the number of offers, of lapsed offers, and the budget of the default queue."""
    offered = queue.offered(capacity, now=now)
    (budget,) = [each for each in offered.budgets if each.queue == "default"] or [
        Budget("default", capacity, 0)
    ]
    return len(offered.offers), budget.lapsed, budget.budget


@pytest.mark.fault("adjust_budgets", r"then budget - missed else", "then budget else")
@pytest.mark.fault("offer", r"where turn <= coalesce\(allowed.jobs, turn\)", "")
def test_lapsed_offers_reduce_the_budget(queue: Queue) -> None:
    now = fill(queue, 3 * CAPACITY)
    assert tick(queue, now) == (CAPACITY, 0, CAPACITY)
    run_jobs(queue, 10, now)

    assert tick(queue, now + TTL) == (10, 30, 10)


@pytest.mark.fault("adjust_budgets", r"and j.visible > \(select since from clock\)", "")
@pytest.mark.fault("start_tick", r"since = ticked, ", "")
def test_lapsed_offer_is_counted_once(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    tick(queue, now)
    run_jobs(queue, 10, now)

    assert [tick(queue, now + TTL + n * MINUTE / 2)[2] for n in range(3)] == [10, 10, 10]


@pytest.mark.fault("adjust_budgets", r"and j.prior is null", "")
@pytest.mark.fault(
    "offer", r"case when claimed is null then ack else", "case when claimed is null then null else"
)
def test_unclaimable_job_reduces_the_budget_only_once(queue: Queue) -> None:
    now = fill(queue, 5)
    tick(queue, now)

    lapses = [tick(queue, now + n * TTL)[1:] for n in range(1, 9)]

    assert lapses[0] == (5, CAPACITY - 5)
    assert {lapsed for lapsed, _ in lapses[1:]} == {0}
    assert lapses[-1] == (0, CAPACITY)


@pytest.mark.fault("adjust_budgets", r"case when missed \* 10 < budget \* 9 then", "case when true then")
@pytest.mark.parametrize("done", [0, 1, 2])
def test_budget_is_halved_if_few_offers_were_claimed(queue: Queue, done: int) -> None:
    now = fill(queue, CAPACITY)
    tick(queue, now)
    run_jobs(queue, done, now)

    assert tick(queue, now + TTL)[1:] == (CAPACITY - done, CAPACITY // 2)


@pytest.mark.fault(
    "adjust_budgets", r"when missed \* 50 <= budget then budget", "when missed <= 0 then budget"
)
def test_two_percent_of_lapsed_offers_do_not_reduce_the_budget(queue: Queue) -> None:
    now = fill(queue, 2 * CAPACITY)
    tick(queue, now, capacity=100)
    run_jobs(queue, 2 * CAPACITY - 2, now)

    assert tick(queue, now + TTL, capacity=100)[1:] == (2, 100)


@pytest.mark.fault("adjust_budgets", r"%\(capacity\)s / 20, ", "")
def test_budget_is_at_least_a_twentieth_of_the_capacity(queue: Queue) -> None:
    now = fill(queue, 20 * CAPACITY)

    budgets = [tick(queue, now + n * TTL)[2] for n in range(10)]

    assert budgets[:4] == [CAPACITY, CAPACITY // 2, CAPACITY // 4, CAPACITY // 8]
    assert budgets[-1] == CAPACITY // 20


def test_budget_of_a_broken_queue_does_not_affect_others(queue: Queue) -> None:
    now = fill(queue, 100 * CAPACITY, name="broken")

    for n in range(10):
        fill(queue, 5)
        tick(queue, now + n * TTL)
        assert run_jobs(queue, 5, now + n * TTL) == 5


@pytest.mark.fault(
    "functions/slots", r"when age between 0 and 9 then budget", "when age between 0 and 8 then budget"
)
@pytest.mark.fault("functions/slots", r"budget \+ 2 \^ least\(age - 9, 20\) - 1", "budget")
@pytest.mark.fault("adjust_budgets", r"least\(%\(capacity\)s, budget\)", "budget")
def test_budget_grows_back_ten_minutes_after_the_last_lapse(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    tick(queue, now)
    run_jobs(queue, 10, now)
    lapse = now + TTL
    tick(queue, lapse)
    queue.sql("delete from minutehand.jobs")

    grown = [tick(queue, lapse + n * MINUTE)[2] for n in (1, 9, 10, 11, 12, 13, 14, 60)]

    assert grown == [10, 10, 11, 13, 17, 25, 40, 40]


def test_clock_set_back_does_not_keep_the_budget_low(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    tick(queue, now)
    tick(queue, now + TTL)
    queue.sql("update minutehand.budgets set lapsed = lapsed + interval '1 year'")
    queue.sql("delete from minutehand.jobs")

    assert tick(queue, now + 2 * TTL)[2] == CAPACITY


@pytest.mark.fault("adjust_budgets", r"and j.claimed is null", "")
@pytest.mark.fault("adjust_budgets", r"and j.offered is not null and j.claimed is null", "")
def test_crashed_worker_does_not_reduce_the_budget(queue: Queue) -> None:
    for _ in range(3):
        queue.enqueue()
    jobs = queue.claim(*queue.offer())
    (row,) = queue.sql("select max(visible) as visible from minutehand.jobs_live")
    assert len(jobs) == 3

    assert tick(queue, row["visible"] + MINUTE) == (3, 0, CAPACITY)


@pytest.mark.fault("withdraw", r"and j.ack = o.ack", "")
@pytest.mark.fault("withdraw", r", visible = least\(j\.visible, clock_timestamp\(\)\)", "")
@pytest.mark.fault("claim", r"j.offered is not null and ", "")
def test_withdrawn_offers_are_due_and_cannot_be_claimed(queue: Queue) -> None:
    jobs = {queue.enqueue(), queue.enqueue()}
    stale = queue.offer()
    for job_id in jobs:
        queue.pass_time(job_id)
    first, second = queue.offer()

    withdraw(queue.database, [*stale, first])

    assert queue.row(first.id).state == "due"
    assert queue.row(second.id).state == "offered"
    # The first offer has lapsed, and its event may still arrive.
    assert queue.claim(first, *(offer for offer in stale if offer.id == first.id)) == []
    assert len(queue.claim(second)) == 1
    assert {made.id for made in queue.offer()} == {first.id}


@pytest.mark.fault("withdraw", r"set ack = j.prior", "set ack = null")
def test_late_finish_is_accepted_after_a_withdrawn_offer(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    withdraw(queue.database, queue.offer())

    assert finish(job, Done()).ending == "done"


@pytest.mark.parametrize("capacity", [50, 300])
def test_throttled_backlog_costs_at_most_1_05_offers_per_job(queue: Queue, capacity: int) -> None:
    """Each minute has a tick and 60 finished jobs; Lambda drops the other events after a minute."""
    now, offered, done = fill(queue, 10_000), 0, 0

    while done < 10_000:
        fresh = [made.id for made in queue.offered(capacity, now=now).offers]
        offered += len(fresh)
        done += len(
            queue.sql(
                "update minutehand.jobs set deleted = %(now)s where id = any (%(ids)s) returning id",
                now=now,
                ids=fresh[:60],
            )
        )
        now += MINUTE

    assert offered <= 1.05 * done
