"""A tenant sees the queues of its own jobs, and no others."""

from datetime import timedelta
from typing import Any

from minutehand import Database, enqueue
from minutehand.database.tenants import as_tenant
from tests.queue.lanes.stage import tick
from tests.queue.past import ago, finished, noon
from tests.queue.stage import Queue
from tests.queue.tenants.stage import query_as

SEEN = "select minutehand.queues_seen() queue order by queue"


def enqueue_in(queue: Queue, tenant: str, name: str, **options: Any) -> None:
    with as_tenant(queue.database, tenant) as own:
        enqueue("echo", queue=name, connection=own, **options)


def queues_seen_by(tenant: Database, name: str) -> list[str]:
    return [queue for (queue,) in query_as(tenant, name, SEEN)]


def test_tenant_sees_queues_of_its_unfinished_jobs(tenant: Database, queue: Queue) -> None:
    enqueue_in(queue, "a", "due")
    enqueue_in(queue, "a", "scheduled", priority=9, delay=timedelta(days=1))
    enqueue_in(queue, "b", "of-b")
    queue.enqueue(queue="of-none")
    # Some lanes are still changes of the next tick, others are stored.
    tick(queue)
    enqueue_in(queue, "a", "new")

    assert queues_seen_by(tenant, "a") == ["due", "new", "scheduled"]
    assert queues_seen_by(tenant, "b") == ["of-b"]
    assert queues_seen_by(tenant, "nobody") == []


def test_tenant_sees_queues_whose_jobs_ended_in_a_week(tenant: Database, queue: Queue) -> None:
    finished(queue, noon(ago(queue, 2)), tenant="a", queue="ended")
    finished(queue, noon(ago(queue, 2)), tenant="b", queue="of-b")
    finished(queue, noon(ago(queue, 9)), tenant="a", queue="long-ago")

    assert queues_seen_by(tenant, "a") == ["ended"]


def test_tenant_sees_no_queue_for_its_settings(tenant: Database, queue: Queue) -> None:
    queue.sql("insert into minutehand.controls (queue, paused) values ('paused', true)")
    queue.sql("insert into minutehand.retention (queue, what) values ('retained', 'done')")

    assert queues_seen_by(tenant, "a") == []
