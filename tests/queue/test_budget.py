"""The budget: workers that cannot keep up are not invited again and again for the same backlog."""

from datetime import datetime, timedelta

import pytest

from minutehand.finish import finish
from minutehand.offer import withdraw
from minutehand.outcomes import Done
from tests.queue.stage import Queue

MINUTE = timedelta(minutes=1)
TTL = 2 * MINUTE
pytestmark = pytest.mark.parametrize("database", ["direct-18"], indirect=True)  # no server counts differently
CAPACITY = 40


def fill(queue: Queue, jobs: int) -> datetime:
    """Enqueue jobs; return a moment at which they are due."""
    for _ in range(jobs):
        queue.enqueue()
    (moment,) = queue.sql("select now() + interval '1 second' as now")
    return moment["now"]


def work_off(queue: Queue, most: int, now: datetime) -> int:
    """Have throttled workers finish some of what is on offer, by a clock that the test moves."""
    return len(
        queue.sql(
            """update minutehand.jobs set deleted = %(now)s
                where id in (select id from minutehand.jobs_live
                              where ack is not null and visible > %(now)s order by offered limit %(most)s)
             returning id""",
            now=now,
            most=most,
        )
    )


@pytest.mark.fault("budget", r"had.budget - vain.jobs else", "had.budget else")
def test_what_lapsed_between_two_ticks_is_taken_off_the_budget(queue: Queue) -> None:
    now = fill(queue, 3 * CAPACITY)
    assert len(queue.offered(CAPACITY, now=now).offers) == CAPACITY
    work_off(queue, 10, now)

    later = queue.offered(CAPACITY, now=now + TTL)

    assert (later.vain, later.budget, len(later.offers)) == (30, 10, 10)


@pytest.mark.fault("budget", r"visible > d.since and ", "")
@pytest.mark.fault("lock", r"since = ticked, ", "")
def test_a_lapse_is_counted_once(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    queue.offered(CAPACITY, now=now)
    work_off(queue, 10, now)

    budgets = [queue.offered(CAPACITY, now=now + TTL + n * MINUTE / 2).budget for n in range(3)]

    assert budgets == [10, 10, 10]


@pytest.mark.fault("budget", r"had.budget / 2", "1")
def test_a_dispatcher_that_died_before_its_fan_out_halves_the_budget(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    queue.offered(CAPACITY, now=now)

    later = queue.offered(CAPACITY, now=now + TTL)

    assert (later.vain, later.budget) == (CAPACITY, CAPACITY // 2)


@pytest.mark.fault("budget", r"greatest\(1, ", "greatest(0, ")
def test_at_least_one_job_is_always_tried(queue: Queue) -> None:
    now = fill(queue, CAPACITY)

    for n in range(10):
        offered = queue.offered(CAPACITY, now=now + n * TTL)

    assert offered.budget == 1
    assert len(offered.offers) == 1


@pytest.mark.fault("budget", r"age < 10 then 0", "age < 10 then 5")
@pytest.mark.fault("budget", r"2 \^ least\(age - 9, 20\) - 1 end", "0 end")
@pytest.mark.fault("budget", r"least\(%\(capacity\)s, d.budget", "(d.budget")
def test_ten_minutes_after_the_last_lapse_the_budget_grows_until_it_is_the_capacity(queue: Queue) -> None:
    now = fill(queue, CAPACITY)
    queue.offered(CAPACITY, now=now)
    work_off(queue, 10, now)
    lapse = now + TTL
    queue.offered(CAPACITY, now=lapse)
    queue.sql("delete from minutehand.jobs")

    grown = [queue.offered(CAPACITY, now=lapse + n * MINUTE).budget for n in (1, 9, 10, 11, 12, 13, 14, 60)]

    assert grown == [10, 10, 11, 13, 17, 25, 40, 40]


@pytest.mark.fault("budget", r"and \(claimed is null or offered > claimed\)", "")
@pytest.mark.fault("budget", r"offered is not null and \(claimed is null or offered > claimed\)", "true")
def test_a_worker_that_died_takes_nothing_off_the_budget(queue: Queue) -> None:
    queue.enqueue()
    (job,) = queue.claim(*queue.offer())
    (row,) = queue.sql("select visible from minutehand.jobs_live where id = %(id)s", id=job.id)

    later = queue.offered(now=row["visible"] + MINUTE)

    assert (later.vain, later.budget, len(later.offers)) == (0, 100, 1)


@pytest.mark.fault("withdraw", r"and j.ack = o.ack", "")
@pytest.mark.fault("withdraw", r", visible = clock_timestamp\(\)", "")
def test_offers_that_are_withdrawn_are_due_again_and_nobody_can_claim_them(queue: Queue) -> None:
    jobs = {queue.enqueue(), queue.enqueue()}
    stale = queue.offer()
    for job_id in jobs:
        queue.pass_time(job_id)
    first, second = queue.offer()

    withdraw(queue.database, [*stale, first])

    assert queue.row(first.id).state == "due"
    assert queue.row(second.id).state == "offered"
    assert queue.claim(first) == []
    assert len(queue.claim(second)) == 1
    assert {made.id for made in queue.offer()} == {first.id}


@pytest.mark.fault("withdraw", r"set ack = j.prior", "set ack = null")
def test_a_late_finish_is_still_good_after_an_offer_of_its_job_was_withdrawn(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    withdraw(queue.database, queue.offer())

    assert finish(job, Done()).ending == "done"


@pytest.mark.parametrize("capacity", [50, 300])
def test_throttled_to_60_jobs_a_minute_10_000_due_jobs_cost_at_most_1_05_offers_each(
    queue: Queue, capacity: int
) -> None:
    """Minute by minute: a tick, then the workers finish 60 jobs; Lambda drops what waited a minute."""
    queue.sql("insert into minutehand.lanes (queue, priority) values ('default', 5)")
    queue.sql(
        """insert into minutehand.jobs (kind, run_at, visible)
           select 'echo', moment, moment
             from (select now() - n * interval '1 millisecond' as moment from generate_series(1, 10000) n) made"""
    )
    (row,) = queue.sql("select now() as now")
    now, offered, done, fresh = row["now"], 0, 0, []

    while done < 10_000:
        fresh = [made.id for made in queue.offered(capacity, now=now).offers]
        offered += len(fresh)
        done += len(
            queue.sql(
                "update minutehand.jobs set deleted = %(now)s where id = any (%(ids)s) returning id",
                now=now, ids=fresh[:60],
            )
        )  # fmt: skip
        now += MINUTE

    assert offered <= 1.05 * done
