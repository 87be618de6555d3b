"""Sessions of an archive read only while they hold a slot."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from pyspark.sql import types as T

from minutehand.database import Database, connect
from minutehand_pipeline.archive import archiver, quiet
from minutehand_pipeline.archive.pace import Pace
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.queue.ranges import Pages, Selection
from minutehand_pipeline.queue.reading import QueueReader
from minutehand_pipeline.queue.slots import LOCKS, SLICE, slices, take_slot, wait_for_slot
from minutehand_pipeline.queue.source import held_snapshot
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import DAY, Stage
from tests.pipeline.load.gates import SECONDS, until

HELD = (
    f"select objid::bigint from pg_locks where classid = {LOCKS} and objsubid = 2 and granted order by objid"
)
WAITING = f"select count(*) from pg_locks where classid = {LOCKS} and objsubid = 2 and not granted"


class Fixed(Pace):
    """A pace that the test sets."""

    def note(self, seconds: float) -> None:
        pass


def held(stage: Stage) -> list[int]:
    return [slot for (slot,) in stage.sql(HELD)]


@pytest.mark.parametrize(
    ("pages", "size", "expected"),
    [
        ((0, None), 1, [(0, None)]),
        ((0, None), SLICE + 1, [(0, SLICE), (SLICE, None)]),
        ((SLICE, 2 * SLICE), 9 * SLICE, [(SLICE, 2 * SLICE)]),
        ((10, SLICE + 11), 9 * SLICE, [(10, SLICE + 10), (SLICE + 10, SLICE + 11)]),
    ],
)
def test_pages_are_split_into_slices(pages: Any, size: int, expected: Any) -> None:
    assert [(each.first, each.last) for each in slices(Pages("jobs_done_20260331", *pages), size)] == expected


def test_session_takes_a_free_slot_or_waits_for_the_first(stage: Stage) -> None:
    def take() -> None:
        with connect(stage.database.url) as connection, connection.transaction():
            take_slot(lambda text: connection.execute(text).fetchone(), 2)

    with connect(stage.database.url) as holder, ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute(wait_for_slot(0))
            take()
            holder.execute(wait_for_slot(1))
            waiting = pool.submit(take)
            until(lambda: stage.sql(WAITING) == [(1,)], "a session waits", waiting)
        waiting.result(SECONDS)


def test_task_reads_while_it_holds_a_slot(stage: Stage) -> None:
    stage.fill(40)
    home, database = HOMES["jobs_done"], Database(stage.database.url)
    schema = T.StructType([home.schema["id"]])
    with held_snapshot(database) as snapshot:
        reader = QueueReader(
            Selection(home, ("id",)), schema, lambda: stage.database.url, snapshot, 1, slots=2
        )
        [share] = reader.partitions()

        batches = reader.read(share)
        rows = len(next(batches))
        assert held(stage) == [0]
        rows += sum(map(len, batches))

    assert rows == 40 and held(stage) == []
    database.close()


def test_slots_that_are_not_open_are_held(stage: Stage) -> None:
    pace = Fixed(3)
    pace.open, closing = 1, Database(stage.database.url)

    with quiet.quiet(closing, pace):
        until(lambda: held(stage) == [1, 2], "two slots are closed")
        pace.open = 0
        until(lambda: held(stage) == [0, 1, 2], "all are closed")
        pace.open = 3
        until(lambda: held(stage) == [], "all are open")
    closing.close()


def test_lost_connection_opens_the_slots(stage: Stage) -> None:
    over, closing = Event(), Database(stage.database.url)
    with ThreadPoolExecutor(1) as pool:
        regulating = pool.submit(quiet._regulate, closing, Fixed(2), over)
        until(lambda: held(stage) == [0, 1], "all are closed", regulating)
        stage.sql(f"select pg_terminate_backend(pid) from pg_locks where classid = {LOCKS} and objsubid = 2")
        until(lambda: held(stage) == [], "all are open")
        over.set()
        regulating.result(SECONDS)
    closing.close()


def test_paused_archive_continues(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiver, "LARGE", 300)
    monkeypatch.setattr("minutehand_pipeline.queue.slots.SLICE", 1)
    stage.fill(400)

    assert archive_with_a_pause(stage) == 400
    # The whole day is read again.
    stage.sql("insert into minutehand.jobs (kind, deleted) values ('late', '2026-03-31 22:00+00')")
    assert archive_with_a_pause(stage) == 1
    assert stage.archived() == stage.queued()


def archive_with_a_pause(stage: Stage) -> int:
    """Archive a day while all slots are closed for some time; return the number of new rows."""
    with ThreadPoolExecutor(1) as pool, connect(stage.database.url) as holder:
        with holder.transaction():
            for slot in range(archiver.MANY):
                holder.execute(wait_for_slot(slot))
            archiving = pool.submit(stage.archive, homes=("jobs_done",), since=DAY, until=DAY)
            # The archive's own control of the slots, and a task.
            until(lambda: stage.sql(WAITING) >= [(2,)], "the archive waits", archiving)
        return int(archiving.result(SECONDS).days[0].rows)


def test_number_of_readers_is_checked(stage: Stage) -> None:
    with pytest.raises(InputError, match="the number of readers must be from 1 to 64, got 65"):
        stage.archive(readers=65, wait=timedelta(0))
