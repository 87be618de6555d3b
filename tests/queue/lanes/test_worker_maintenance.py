"""Resident workers raise the floors between their maintenance, one of them for all."""

from datetime import UTC, datetime, timedelta
from time import monotonic

from minutehand.maintenance import WorkerMaintenance
from tests.queue.lanes.stage import tick
from tests.queue.stage import Queue

LOWER = "update minutehand.lanes set floor = floor - interval '1 hour'"
FORGET_THE_MARK = "update minutehand.dispatcher set marked = null, mark = null"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def floor_of(queue: Queue) -> datetime:
    floor: datetime = queue.sql("select floor from minutehand.lanes")[0]["floor"]
    return floor


def test_worker_raises_floors_between_its_maintenance(queue: Queue) -> None:
    queue.claimed()
    tick(queue)
    queue.sql(LOWER)
    queue.sql(FORGET_THE_MARK)
    before = floor_of(queue)

    WorkerMaintenance(maintained=monotonic()).run(queue.database)

    assert floor_of(queue) > before


def test_first_run_is_full_maintenance(queue: Queue) -> None:
    queue.sql("update minutehand.dispatcher set swept = '-infinity'")

    WorkerMaintenance().run(queue.database)

    assert queue.sql("select swept from minutehand.dispatcher where isfinite(swept)")


def test_young_mark_stays(queue: Queue) -> None:
    queue.sql("update minutehand.dispatcher set marked = %(at)s", at=NOW - timedelta(seconds=1))
    pause = timedelta(seconds=2)

    assert queue.database.run("advance_settled", now=NOW, pause=pause) == []
    assert queue.database.run("advance_settled", now=NOW + timedelta(seconds=1), pause=pause)


def test_mark_in_the_future_does_not_stay(queue: Queue) -> None:
    """The clock was set back."""
    queue.sql("update minutehand.dispatcher set marked = %(at)s", at=NOW + timedelta(days=1))

    assert queue.database.run("advance_settled", now=NOW, pause=timedelta(seconds=2))
