"""Rates: how many jobs start in a period, and what a rate leaves of its past."""

from datetime import timedelta

from minutehand.claim import take
from minutehand.maintenance import run_maintenance
from minutehand.model.slots import Slots
from minutehand.operations.controls import limit, list_controls, unlimit
from tests.queue.stage import GRACE, LEASE, Queue

HOUR = timedelta(hours=1)
START = """
select minutehand.count_starts(
           minutehand.counted_jobs(array[%(id)s]::uuid[]),
           array[row(c.id, '', c.queue, '', '', '', '', true, '', c.burst)::minutehand.bound],
           '2026-03-28 12:00+00')
  from minutehand.controls c"""


def test_rate_that_was_far_slower_is_exhausted(queue: Queue) -> None:
    (left,) = queue.sql(
        "select minutehand.rate_free(1000, '1 s', 1000, now() + interval '31 days', now()) as free"
    )

    assert left["free"] < 0


def test_replaced_rate_starts_anew(queue: Queue) -> None:
    for _ in range(8):
        queue.enqueue()
    limit(queue.database, queue="default", rate=1, period=HOUR)
    assert len(queue.offer()) == 1
    limit(queue.database, queue="default", rate=3, period=HOUR)
    assert len(queue.offer()) == 3
    limit(queue.database, 9, queue="default", rate=3, period=HOUR, reason="the same rate")
    assert queue.offer() == []


def test_rate_of_one_tenant_replaces_an_exhausted_one_per_tenant(queue: Queue) -> None:
    for _ in range(4):
        queue.enqueue(tenant="acme")
    limit(queue.database, per="tenant", rate=1, period=HOUR)
    assert len(queue.offer()) == 1
    limit(queue.database, tenant="acme", rate=2, period=HOUR)
    assert len(queue.offer()) == 2


def test_take_counts_the_jobs_that_it_takes_only(queue: Queue) -> None:
    ids = [queue.enqueue() for _ in range(5)]
    limit(queue.database, queue="default", rate=5, period=HOUR)
    queue.sql("update minutehand.jobs_live set lapsed = now() where id = %(id)s", id=ids[0])
    # The lapsed job is taken alone.
    assert [len(queue.take(5)) for _ in range(3)] == [1, 4, 0]


def test_take_counts_no_job_that_does_not_suit(queue: Queue) -> None:
    queue.enqueue()
    limit(queue.database, queue="default", rate=1, period=HOUR)
    (row,) = queue.sql("select clock_timestamp() + interval '1 s' as now")
    slots = Slots(freed=[row["now"]], kinds={"echo": False, "*": True})
    assert take(queue.database, "default", 1, LEASE, GRACE, slots=slots) == []
    assert len(queue.offer()) == 1


def test_rate_does_not_depend_on_the_time_zone_of_the_session(queue: Queue) -> None:
    """Berlin's 29 March 2026 has 23 hours."""
    limit(queue.database, queue="default", rate=1, period=timedelta(days=1), burst=2)
    queue.sql("update minutehand.controls set period = '1 day'")
    queue.sql("set timezone = 'Europe/Berlin'")
    queue.sql(START, id=queue.enqueue())
    queue.sql(START, id=queue.enqueue())
    (row,) = queue.sql(
        "select extract(epoch from due - '2026-03-28 12:00+00')::integer as after from minutehand.rates"
    )
    assert row["after"] == 2 * 86400


def test_times_of_a_removed_rate_are_deleted(queue: Queue) -> None:
    queue.enqueue(tenant="acme")
    limit(queue.database, per="tenant", rate=1, period=HOUR)
    queue.offer()
    queue.database.run("prune_rates", now=None)
    assert len(queue.sql("select value from minutehand.rates")) == 1
    unlimit(queue.database, per="tenant")
    queue.database.run("prune_rates", now=None)
    assert queue.sql("select value from minutehand.rates") == []


def test_sweep_deletes_any_number_of_times_of_rates(queue: Queue) -> None:
    limit(queue.database, per="key", rate=1, period=HOUR)
    queue.sql(
        """insert into minutehand.rates (control, value, due)
           select c.id, n::text, now() + case when n > 20001 then interval '1 hour' else interval '-1 hour' end
             from minutehand.controls c, generate_series(1, 20002) n"""
    )

    assert run_maintenance(queue.database).failed == ()

    assert queue.sql("select value from minutehand.rates") == [{"value": "20002"}]


def test_list_shows_when_a_rate_allows_the_next_start(queue: Queue) -> None:
    for tenant in ("acme", "acme", "other"):
        queue.enqueue(tenant=tenant)
    limit(queue.database, per="tenant", rate=2, period=HOUR)
    (before,) = queue.sql("select clock_timestamp() as now")
    queue.offer(now=before["now"])

    (control,) = list_controls(queue.database)
    assert (control.busy, control.full) == (2, 1)
    assert control.free_at == before["now"] + HOUR / 2
