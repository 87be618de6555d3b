"""What Python does for a job: a bounded number of calls, however many jobs a chunk has, and no garbage in cycles."""

import gc
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from threading import Event as Flag
from weakref import ref

import pytest

from minutehand.attempts.in_turn import run_jobs
from minutehand.database.preparing import USES
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event, Hook, ignore
from minutehand.work import work
from tests.queue.calls import count_calls
from tests.queue.stage import Queue

# Calls for each job of a chunk of 100, from its row to its outcome. An attempt of a job that runs alone takes more,
# because a chunk has calls of its own.
MOST_CALLS = 46
# With a hook, as in the worker function and in `minutehand work`: two events of each job.
MOST_CALLS_WITH_HOOK = 60
MOST_CALLS_ALONE = 300
# For each job of a resident worker that takes one at a time: about 190, and some of what it does by the clock.
MOST_CALLS_ONE_BY_ONE = 205
# Runs that a busy machine may slow down so much that the clock adds more.
SLOW_RUNS = 5


@pytest.fixture(autouse=True)
def long_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is done by the clock, which a busy machine makes frequent, and no hooks of other tests are called."""
    for constant in (
        "attempts.group.SECONDS",
        "model.turns.SEARCH_SECONDS",
        "model.reached.SECONDS",
        "attempts.taker.ONLY_TAKE_SECONDS",
        "database.preparing.FRESH_SECONDS",
        "maintenance.MAINTENANCE_SECONDS",
    ):
        monkeypatch.setattr(f"minutehand.{constant}", 50.0)
    monkeypatch.setattr("minutehand.maintenance.RAISE_EVERY", timedelta(seconds=50))
    monkeypatch.setattr("minutehand.events.hooks._hooks", {})


def calls_of_chunk(queue: Queue, jobs: int, hook: Hook = ignore) -> Counter[str]:
    """Take and run jobs together, and count the calls."""
    for number in range(jobs):
        queue.enqueue(payload={"n": number})
    handlers = HandlerTable({"echo": lambda payload: None})

    def run() -> None:
        finishes = run_jobs(queue.take(jobs), handlers, lambda: False, hook=hook)
        assert [each.ending for each in finishes] == ["done"] * jobs

    return count_calls(run)


@pytest.fixture
def warm(direct_queue: Queue) -> Queue:
    """A queue whose statements are prepared."""
    for _ in range(USES + 1):
        calls_of_chunk(direct_queue, 2)
    return direct_queue


def test_calls_of_a_job_do_not_grow_with_the_chunk(warm: Queue) -> None:
    small, large = (calls_of_chunk(warm, jobs) for jobs in (50, 100))

    assert large.total() <= 2 * small.total(), (large - small).most_common(10)
    assert large.total() / 100 <= MOST_CALLS, (large.total(), large.most_common(10))


def test_hook_adds_few_calls(warm: Queue) -> None:
    events: list[Event] = []
    calls = calls_of_chunk(warm, 100, events.append)

    assert len(events) == 200
    assert calls.total() / 100 <= MOST_CALLS_WITH_HOOK, (calls.total(), calls.most_common(10))


def test_job_that_runs_alone_takes_few_calls(warm: Queue) -> None:
    calls = calls_of_chunk(warm, 1)

    assert calls.total() <= MOST_CALLS_ALONE, (calls.total(), calls.most_common(10))


def calls_one_by_one(queue: Queue, jobs: int) -> Counter[str]:
    for number in range(jobs):
        queue.enqueue(payload={"n": number})
    handlers = HandlerTable({"echo": lambda payload: None})
    return count_calls(partial(work, queue.database, handlers, Flag(), chunk=1, drain=True))


def test_worker_makes_few_calls_for_each_of_its_jobs(warm: Queue) -> None:
    calls_one_by_one(warm, 20)  # prepares statements and fills caches
    # A worker also does things by the clock, which add calls to a slow run.
    for _ in range(SLOW_RUNS + 1):
        few, many = (calls_one_by_one(warm, jobs) for jobs in (20, 60))
        if (many.total() - few.total()) / 40 <= MOST_CALLS_ONE_BY_ONE:
            break
    else:
        pytest.fail(f"{few.total()} calls for 20 jobs, {many.total()} for 60: {many.most_common(10)}")


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Objects are freed only when nothing refers to them."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_jobs_are_freed_when_their_chunk_has_ended(direct_queue: Queue) -> None:
    for number in range(3):
        direct_queue.enqueue(payload={"n": number})
    jobs = direct_queue.take(3)
    left = [ref(each) for each in jobs] + [ref(each.lease) for each in jobs]

    run_jobs(jobs, HandlerTable({"echo": lambda payload: None}), lambda: False)
    del jobs

    assert [each() for each in left] == [None] * 6
