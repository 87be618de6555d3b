"""Eight sessions enqueue one key while workers claim its jobs."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import chain
from threading import Barrier, Event
from typing import Any

import pytest

from minutehand import Database, Enqueued, Job, KeyTakenError, NewJob, enqueue, enqueue_many
from minutehand.errors import ConflictError
from minutehand.finish import finish
from minutehand.model.outcome import Done
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

SESSIONS = 8
EACH = 12


def in_all_sessions(
    queue: Queue, call: Callable[[Database, int], Any], sessions: int = SESSIONS
) -> list[Any]:
    """Call in all sessions at the same time, and return all results."""
    barrier = Barrier(sessions, timeout=60)

    def session(number: int) -> list[Any]:
        database = queue.another()
        barrier.wait()
        return [call(database, number * EACH + each) for each in range(EACH)]

    futures = [queue.start(session, number) for number in range(sessions)]
    return list(chain.from_iterable(future.result() for future in futures))


def run_worker(queue: Queue, stop: Event) -> list[Job]:
    """Take and finish due jobs until none is left, and return them."""
    database, seen = queue.another(), []
    while True:
        stopping = stop.is_set()
        jobs = queue.take(5, database=database)
        for job in jobs:
            assert finish(job, Done()).ending == "done"
        seen += jobs
        if stopping and not jobs:
            return seen


def with_workers(queue: Queue, call: Callable[[Database, int], Any]) -> tuple[list[Any], list[Job]]:
    stop = Event()
    workers = [queue.start(run_worker, queue, stop) for _ in range(3)]
    try:
        made = in_all_sessions(queue, call)
    finally:
        stop.set()
    return made, list(chain.from_iterable(worker.result() for worker in workers))


def outcomes(made: list[Enqueued]) -> Counter[str]:
    return Counter(each.outcome for each in made)


def test_items_merged_during_claims_are_handled_once(queue: Queue) -> None:
    def call(database: Database, number: int) -> Enqueued:
        return enqueue("echo", [number], key="k", on_conflict="merge", connection=database)

    made, handled = with_workers(queue, call)

    assert sorted(chain.from_iterable(job.payload for job in handled)) == list(range(SESSIONS * EACH))
    assert outcomes(made) == {"created": len(handled), "merged": SESSIONS * EACH - len(handled)} or (
        len(handled) == SESSIONS * EACH
    )


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "merge"])
def test_unique_for_creates_one_job_in_its_period(queue: Queue, on_conflict: Any) -> None:
    def call(database: Database, number: int) -> Enqueued:
        return enqueue(
            "echo", [number], key="k", unique_for=LONG, on_conflict=on_conflict, connection=database
        )

    made, handled = with_workers(queue, call)

    assert outcomes(made)["created"] == 1
    assert len({job.id for job in handled}) == len(handled) == 1
    assert len({each.id for each in made}) == 1


def test_one_of_many_enqueues_in_a_period_creates_the_job(queue: Queue) -> None:
    def call(database: Database, number: int) -> str:
        try:
            return enqueue(
                "echo", number, key="k", unique_for=LONG, on_conflict="raise", connection=database
            ).outcome
        except KeyTakenError:
            return "taken"

    made, handled = with_workers(queue, call)

    assert Counter(made) == {"created": 1, "taken": SESSIONS * EACH - 1}
    assert len(handled) == 1


def test_unique_while_running_creates_no_second_job(queue: Queue) -> None:
    """A deferred trigger checks every inserted row at the end of its transaction."""
    queue.sql(
        """create function check_single() returns trigger language plpgsql as $$
           begin
               if exists (select from minutehand.jobs_live where id = new.id)
                  and exists (select from minutehand.jobs_live
                               where key = new.key and claimed is not null and id <> new.id) then
                   raise exception 'a second job of the key runs';
               end if;
               return null;
           end $$;
           create constraint trigger check_single after insert on minutehand.jobs_live initially deferred
               for each row execute function check_single()"""
    )

    def call(database: Database, number: int) -> Enqueued:
        return enqueue("echo", number, key="k", unique_while="running", connection=database)

    made, handled = with_workers(queue, call)

    assert outcomes(made)["created"] == len(handled) >= 1


def test_throttle_makes_one_job_for_now_and_one_for_the_end_of_the_period(queue: Queue) -> None:
    def call(database: Database, number: int) -> Enqueued:
        return enqueue("echo", number, key="k", throttle=LONG, connection=database)

    made, handled = with_workers(queue, call)

    waiting = queue.sql("select id, visible - now() as rest from minutehand.jobs_live")
    assert len(handled) == 1
    assert outcomes(made)["created"] == 1 + len(waiting) <= 2
    assert all(timedelta() < row["rest"] <= LONG for row in waiting)


def test_debounce_makes_one_job_and_none_past_its_longest_wait(queue: Queue) -> None:
    def call(database: Database, number: int) -> Enqueued:
        return enqueue(
            "echo",
            number,
            key="k",
            debounce=LONG,
            debounce_max=LONG + timedelta(seconds=1),
            connection=database,
        )

    made = in_all_sessions(queue, call)

    assert outcomes(made) == {"created": 1, "replaced": SESSIONS * EACH - 1}
    (row,) = queue.sql("select visible, latest from minutehand.jobs_live")
    assert row["visible"] <= row["latest"]


def test_concurrent_bulks_with_shared_keys_do_not_deadlock(queue: Queue) -> None:
    def call(database: Database, number: int) -> list[Any]:
        keys = [f"k{n}" for n in range(10)]
        jobs = [
            NewJob("echo", [number], key=key, on_conflict="merge", throttle=LONG)
            for key in (keys if number % 2 else reversed(keys))
        ]
        return list(enqueue_many(jobs, connection=database))

    try:
        made = list(chain.from_iterable(in_all_sessions(queue, call)))
    except ConflictError as error:
        raise AssertionError("two bulks deadlocked") from error

    assert outcomes(made) == {"created": 10, "merged": 10 * SESSIONS * EACH - 10}
    rows = queue.sql("select payload from minutehand.jobs_live")
    assert [sorted(row["payload"]) for row in rows] == [list(range(SESSIONS * EACH))] * 10
