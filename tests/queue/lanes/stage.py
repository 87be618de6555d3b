"""Run maintenance until what it waits for has ended: on a shared server, transactions of other databases too."""

from datetime import timedelta
from typing import Any

from minutehand.maintenance import run_maintenance
from tests.queue.stage import Queue
from tests.waiting import until

NO_SWEEP = "update minutehand.dispatcher set swept = now() + interval '5 minutes'"


def tick(queue: Queue, ahead: timedelta | None = None) -> None:
    """Run the maintenance of some ticks, without a sweep, now or as if time had passed."""
    queue.sql(NO_SWEEP)
    now = None if ahead is None else queue.sql("select now() as now")[0]["now"] + ahead
    for _ in range(3):
        run_maintenance(queue.database, now)


def settle(queue: Queue) -> None:
    """Wait until the transactions that write now have ended."""
    (start,) = queue.sql("select pg_snapshot_xmax(pg_current_snapshot())::text as xid")

    def settled() -> Any:
        queue.database.run("advance_settled", now=None, pause=timedelta())
        return queue.sql("select 1 from minutehand.dispatcher where settled_xid > %(xid)s::xid8", **start)

    queue.sql("select pg_current_xact_id()")
    until(settled)


def maintain(queue: Queue) -> None:
    """Let every lane without due, offered or running jobs become idle."""
    tick(queue)
    settle(queue)
    tick(queue)


def floor(queue: Queue, name: str = "default") -> str | None:
    """Return a lane's floor as text, since Python has no infinite time; None if there is no such lane."""
    rows = queue.sql("select floor::text as floor from minutehand.lanes where queue = %(name)s", name=name)
    return rows[0]["floor"] if rows else None


def finish_all(queue: Queue) -> None:
    queue.sql("update minutehand.jobs set deleted = now() where deleted is null")


def used(queue: Queue) -> None:
    """Use the lane `default`, so that it is active and has no job."""
    queue.enqueue()
    tick(queue)
    finish_all(queue)


def idle(queue: Queue) -> None:
    """Use the lane `default`, so that it is idle and has no job."""
    used(queue)
    maintain(queue)
    assert floor(queue) == "infinity"


def found(queue: Queue) -> set[Any]:
    """Take all due jobs of the queue `default`, after a tick."""
    tick(queue)
    return {job.id for job in queue.take(100)}
