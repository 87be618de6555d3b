"""A tick does not read lanes without due, offered or running jobs, and finds every job that becomes due earlier."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Failed, Released
from minutehand.offer import withdraw
from minutehand.operations.edit import edit
from minutehand.operations.jobs import promote, reschedule, retry
from tests.queue.lanes.stage import floor, found, idle, maintain, tick, used
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)


def test_floor_of_a_lane_of_future_jobs_is_the_first(direct_queue: Queue) -> None:
    used(direct_queue)
    direct_queue.enqueue(delay=2 * HOUR)
    first = direct_queue.enqueue(delay=HOUR)

    maintain(direct_queue)

    same = "select floor = visible as same from minutehand.lanes, minutehand.jobs_live where id = %(id)s"
    assert direct_queue.sql(same, id=first) == [{"same": True}]


@pytest.mark.fault("raise_floor", r"b.queue = l.queue and", "")
def test_running_job_keeps_no_other_lane_active(direct_queue: Queue) -> None:
    used(direct_queue)
    direct_queue.claimed(queue="other")

    maintain(direct_queue)

    assert floor(direct_queue) == "infinity"


def test_job_of_a_new_lane_is_offered_before_the_next_tick(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue(queue="new")

    assert floor(direct_queue, "new") is None
    assert [offer.id for offer in direct_queue.offer()] == [job_id]


@pytest.mark.fault("remove_lanes", "floor = 'infinity'.*", "true limit 10000))")
def test_lane_is_removed_after_a_week_without_jobs(direct_queue: Queue) -> None:
    idle(direct_queue)
    direct_queue.enqueue(queue="other", delay=HOUR)
    tick(direct_queue)

    direct_queue.sql("update minutehand.lanes set emptied = emptied - interval '7 days'")
    direct_queue.database.run("remove_lanes", now=None)

    assert direct_queue.sql("select queue from minutehand.lanes") == [{"queue": "other"}]
    job_id = direct_queue.enqueue()
    assert [offer.id for offer in direct_queue.offer()] == [job_id]


@pytest.mark.fault("raise_floor", r"not exists \(select from busy[^)]*\)", "true")
def test_released_job_is_found_in_the_lane_that_it_ran_in(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    maintain(direct_queue)

    finish(job, Released(timedelta()))

    assert found(direct_queue) == {job.id}


@pytest.mark.fault("functions/triggers", r"least\(visible, clock_timestamp\(\)\)", "visible")
def test_job_that_was_inserted_as_offered_may_be_withdrawn(direct_queue: Queue) -> None:
    idle(direct_queue)
    (row,) = direct_queue.sql(
        """insert into minutehand.jobs (kind, ack, offered, visible)
           values ('echo', gen_random_uuid(), now(), now() + interval '1 minute') returning id, ack"""
    )
    tick(direct_queue)

    direct_queue.database.run("withdraw", ids=[row["id"]], acks=[row["ack"]])

    assert found(direct_queue) == {row["id"]}


def _edit(queue: Queue, job_id: UUID) -> None:
    edit(queue.database, [job_id], priority=9)
    promote(queue.database, [job_id])


@pytest.mark.fault("functions/triggers", r"least\(new.visible, clock_timestamp\(\)\)", "new.visible")
def test_offered_job_that_changes_its_lane_may_be_withdrawn(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue()
    offers = direct_queue.offer()
    edit(direct_queue.database, [job_id], priority=9)
    tick(direct_queue)

    withdraw(direct_queue.database, offers)

    assert found(direct_queue) == {job_id}


EARLIER: dict[str, Callable[[Queue, UUID], object]] = {
    "promote": lambda queue, job_id: promote(queue.database, [job_id]),
    "reschedule": lambda queue, job_id: reschedule(queue.database, [job_id], delay=timedelta()),
    "edit": _edit,
    "replace": lambda queue, _: queue.enqueue(key="k", payload=2),
    "priority": lambda queue, _: queue.enqueue(key="k", payload=2, priority=9),
    "merge": lambda queue, _: queue.enqueue(
        key="k", payload=[1], on_conflict="merge", debounce=timedelta(microseconds=1)
    ),
    "plain_sql": lambda queue, _: queue.sql("update minutehand.jobs set visible = now()"),
    "other_queue": lambda queue, _: queue.sql(
        "update minutehand.jobs set queue = 'default', visible = now()"
    ),
}


@pytest.mark.parametrize("how", EARLIER)
def test_job_that_is_moved_to_an_earlier_time_is_found(direct_queue: Queue, how: str) -> None:
    job_id = direct_queue.enqueue(
        key="k", payload=[], delay=HOUR, queue="before" if how == "other_queue" else "default"
    )
    maintain(direct_queue)

    EARLIER[how](direct_queue, job_id)

    assert found(direct_queue) == {job_id}


def test_retried_job_is_found_in_an_idle_lane(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    finish(job, Failed({"type": "Error", "message": "no"}, final=True))
    maintain(direct_queue)
    assert floor(direct_queue) == "infinity"

    retry(direct_queue.database, [job.id])

    # At once, without a tick.
    assert [taken.id for taken in direct_queue.take()] == [job.id]


@pytest.mark.fault("functions/triggers", r"\(l.shared or not lane_covers.shared\)", "true")
def test_lane_becomes_shared_with_the_first_job_of_a_tenant(direct_queue: Queue) -> None:
    direct_queue.enqueue()
    tick(direct_queue)

    direct_queue.enqueue(tenant="acme")
    tick(direct_queue)

    assert direct_queue.sql("select shared from minutehand.lanes") == [{"shared": True}]


@pytest.mark.fault("fold_lanes", r"bool_or\(shared\)", "bool_and(shared)")
def test_new_lane_is_shared_if_any_of_its_first_jobs_has_a_tenant(direct_queue: Queue) -> None:
    direct_queue.enqueue()
    direct_queue.enqueue(tenant="acme")

    tick(direct_queue)

    assert direct_queue.sql("select shared from minutehand.lanes") == [{"shared": True}]


@pytest.mark.fault("fold_lanes", r"least\(l.floor, excluded.floor\)", "excluded.floor")
def test_change_of_a_lane_does_not_raise_its_floor(direct_queue: Queue) -> None:
    first = direct_queue.enqueue()
    tick(direct_queue)

    # Recorded, since the lane is not shared yet.
    second = direct_queue.enqueue(tenant="acme")

    assert found(direct_queue) == {first, second}


@pytest.mark.fault("sweep", "t.queue is not null as shared", "false as shared")
def test_sweep_derives_whether_a_lane_is_shared(direct_queue: Queue) -> None:
    direct_queue.enqueue(queue="a")
    direct_queue.enqueue(queue="b", tenant="acme")
    direct_queue.sql("delete from minutehand.lane_changes")

    direct_queue.database.run("sweep", now=None)

    lanes = direct_queue.sql("select queue, shared from minutehand.lanes order by queue")
    assert lanes == [{"queue": "a", "shared": False}, {"queue": "b", "shared": True}]


@pytest.mark.fault("sweep", "case when b.queue is null then .*? end as floor", "u.first as floor")
def test_sweep_expects_that_a_running_job_is_released(direct_queue: Queue) -> None:
    job = direct_queue.claimed()
    direct_queue.sql("delete from minutehand.lane_changes")
    direct_queue.database.run("sweep", now=None)

    finish(job, Released(timedelta()))

    assert found(direct_queue) == {job.id}


def test_sweep_repairs_a_lane_whose_floor_hides_a_job(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue()
    direct_queue.sql("delete from minutehand.lane_changes")
    direct_queue.sql(
        "insert into minutehand.lanes (queue, priority, floor) values ('default', 5, 'infinity')"
    )
    assert direct_queue.take() == []

    direct_queue.database.run("sweep", now=None)

    assert [job.id for job in direct_queue.take()] == [job_id]
