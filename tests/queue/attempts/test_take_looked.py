"""A worker that has seen all due jobs does not read them again, and looks for earlier ones in time."""

from datetime import timedelta
from math import inf
from threading import Event as Flag
from typing import Any
from uuid import UUID

import pytest

from minutehand.attempts.taker import Taker
from minutehand.claim import ANY_TIME_AND_SLOT
from minutehand.claimed_job import Job
from minutehand.handlers import HandlerTable
from minutehand.model.looked import MARGIN, SECONDS, Looked
from minutehand.model.queues import Queues
from minutehand.model.reached import BEGINNING
from minutehand.model.turns import Turns
from minutehand.operations.controls import pause, resume
from minutehand.work import work
from tests.clock import Clock
from tests.queue.late import late
from tests.queue.stage import GRACE, LEASE, Queue

PLACES: dict[str, dict[str, Any]] = {"take": ANY_TIME_AND_SLOT, "take_ahead": {**BEGINNING}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("minutehand.attempts.taker.monotonic", clock)
    return clock


def taker(queue: Queue, clock: Clock, limit: int = 5) -> Taker:
    turns = Turns(Queues.of("default"))
    return Taker(queue.database, turns, limit, LEASE, GRACE, looked=Looked(clock))


def worker_that_has_looked(queue: Queue, clock: Clock) -> Taker:
    """Return a worker that has found all due jobs, of which there was one."""
    worker = taker(queue, clock)
    queue.enqueue()
    assert len(worker.take()) == 1
    return worker


def take_ahead(worker: Taker, clock: Clock) -> list[Job]:
    """Take jobs with the statement that runs together with outcomes."""
    ahead = worker.ahead()
    assert ahead is not None
    ahead.rows = worker.database.run(ahead.name, **ahead.parameters)
    ahead.sent = clock.now
    return worker.take()


def take(queue: Queue, name: str, behind: str | None) -> list[dict[str, Any]]:
    limits = {"queue": "default", "limit": 5, "lease": LEASE, "grace": GRACE}
    return queue.database.run(name, **{**limits, **PLACES[name], "behind": behind})


def ids(jobs: list[Job]) -> set[UUID]:
    return {job.id for job in jobs}


@pytest.mark.fault("take", r"greatest\(l\.floor, [^\n]*::interval\)", "l.floor")
@pytest.mark.fault("take_ahead", r"greatest\(min\(floor\), [^\n]*::interval\)", "min(floor)")
def test_take_begins_at_the_time_that_was_seen(queue: Queue) -> None:
    for name in PLACES:
        early, recent = late(queue, 2, 0.5)

        assert [row["id"] for row in take(queue, name, "60 seconds")] == [recent]
        assert [row["id"] for row in take(queue, name, None)] == [early]


def test_job_before_the_place_is_found_in_time(queue: Queue, clock: Clock) -> None:
    worker = worker_that_has_looked(queue, clock)
    (early,) = late(queue, 5)
    clock.now = SECONDS
    passed, wait = worker.take(), worker.longest_wait
    clock.now += 0.001

    assert (passed, wait) == ([], SECONDS)
    assert ids(worker.take()) == {early}


def test_worker_waits_for_its_idle_time_after_a_look_that_found_nothing(queue: Queue, clock: Clock) -> None:
    worker = worker_that_has_looked(queue, clock)
    clock.now = SECONDS + 0.001

    assert (worker.take(), worker.longest_wait) == ([], inf)


def test_empty_take_of_a_paused_queue_is_no_look(queue: Queue, clock: Clock) -> None:
    worker = taker(queue, clock)
    made = late(queue, 5)
    pause(queue.database, queue="default")
    nothing = worker.take()
    resume(queue.database, queue="default")

    assert (nothing, ids(worker.take())) == ([], set(made))


def test_take_ahead_is_a_look_and_begins_at_one(direct_queue: Queue, clock: Clock) -> None:
    worker = worker_that_has_looked(direct_queue, clock)
    clock.now = 0.1
    direct_queue.enqueue()
    taken = take_ahead(worker, clock)
    clock.now = 0.2
    ahead = worker.ahead()

    assert len(taken) == 1
    assert ahead is not None
    assert ahead.parameters["behind"] == f"{0.1 + MARGIN:.6f} seconds"


def test_take_ahead_from_a_place_is_no_look(direct_queue: Queue, clock: Clock) -> None:
    worker = taker(direct_queue, clock, limit=2)
    made = late(direct_queue, 5, 4, 3)
    before = [ids(take_ahead(worker, clock)) for _ in range(2)]
    early = late(direct_queue, 6)

    assert before == [set(made[:2]), {made[2]}]
    assert ids(worker.take()) == set(early)


def test_drain_ends_after_a_look_at_all_jobs(direct_queue: Queue) -> None:
    handled: list[object] = []
    late(direct_queue, 5, payload="first")

    def handle(payload: object) -> None:
        handled.append(payload)
        if payload == "first":
            late(direct_queue, 6, payload="early")

    work(direct_queue.database, HandlerTable({"echo": handle}), Flag(), chunk=5, drain=True)

    assert handled == ["first", "early"]


class Stop(Flag):
    """Notes how long a worker would wait, and does not let it wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return self.is_set()


def test_idle_worker_waits_no_longer_than_until_the_next_look(direct_queue: Queue) -> None:
    stop = Stop()
    late(direct_queue, 5, payload="first")

    def handle(payload: object) -> None:
        if payload == "first":
            late(direct_queue, 6, payload="early")
        else:
            stop.set()

    work(direct_queue.database, HandlerTable({"echo": handle}), stop, chunk=5, idle=timedelta(hours=1))

    assert set(stop.waits) == {SECONDS}


def test_new_jobs_are_found_by_each_take(queue: Queue, clock: Clock) -> None:
    worker = taker(queue, clock)
    worker.take()
    found = []
    for _ in range(3):
        made = queue.enqueue()
        found.append(ids(worker.take()) == {made})

    assert found == [True] * 3


def test_jobs_that_a_take_leaves_are_found_by_the_next(queue: Queue, clock: Clock) -> None:
    worker = taker(queue, clock, limit=2)
    made = late(queue, 5, 4, 3)

    assert [ids(worker.take()), ids(worker.take())] == [set(made[:2]), {made[2]}]


@pytest.mark.fault("take", r"\(select count\(\*\) from head\)", "1")
@pytest.mark.fault("take_ahead", r"count\(\*\) as found", "1 as found")
def test_take_of_a_lapsed_job_tells_that_it_leaves_others(queue: Queue) -> None:
    for name in PLACES:
        lapsed = queue.claimed()
        queue.pass_time(lapsed.id, timedelta(minutes=9))
        late(queue, 3, 2)

        assert [(row["id"], row["found"]) for row in take(queue, name, None)] == [(lapsed.id, 3)]
        queue.sql("delete from minutehand.jobs")


def test_jobs_behind_a_lapsed_one_are_found_by_the_next_take(queue: Queue, clock: Clock) -> None:
    lapsed = queue.claimed()
    queue.pass_time(lapsed.id, timedelta(minutes=9))
    made = late(queue, 3, 2)
    worker = taker(queue, clock)

    assert [ids(worker.take()), ids(worker.take())] == [{lapsed.id}, set(made)]
