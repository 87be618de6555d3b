"""When the outcomes of short attempts are written: their group is bounded."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event as Flag
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any
from uuid import uuid4

import pytest

from minutehand import Database, Job
from minutehand.attempts.group import MOST_CHARACTERS, MOST_OUTCOMES, SECONDS, Group
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from minutehand.model.outcome import Done, Finish, Interrupted
from minutehand.work import work
from tests.clock import Clock
from tests.queue.stage import Queue
from tests.waiting import until

STATE = "select minutehand.state(j) from minutehand.jobs j where id = %(id)s"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def job(direct_queue: Queue, clock: Clock) -> Job:
    """A job whose lease outlasts the group by the test's clock."""
    job = direct_queue.claimed()
    job.lease.holds_until = 1000.0
    return job


def record(_job: Job, _finish: Finish, _seconds: float) -> None:
    pass


def another(job: Job) -> Job:
    return replace(job, id=uuid4())


def test_group_is_due_some_time_after_its_first_outcome(job: Job, clock: Clock) -> None:
    group = Group(clock)
    due = []
    for clock.now in (0.0, SECONDS / 4, SECONDS / 2):
        due.append(group.add(another(job), Done(), 0.0, record))

    assert due == [False, False, True]


def test_group_is_due_when_a_lease_ends(job: Job, clock: Clock) -> None:
    group = Group(clock)
    job.lease.holds_until = 0.0

    assert group.add(job, Done(), 0.0, record)


def test_outcome_leaves_its_group_before_it_is_recorded(job: Job, clock: Clock) -> None:
    group, waiting = Group(clock), []
    group.add(job, Done(), 0.0, lambda job, _finish, _seconds: waiting.append(job in group))
    group.write()

    assert waiting == [False]


def test_group_is_due_when_it_is_full(job: Job, clock: Clock) -> None:
    group = Group(clock)
    due = [group.add(another(job), Done(), 0.0, record) for _ in range(MOST_OUTCOMES)]

    assert due == [False] * (MOST_OUTCOMES - 1) + [True]


def test_group_is_due_when_its_results_are_large(job: Job, clock: Clock) -> None:
    group = Group(clock)
    large = Done("1" * (MOST_CHARACTERS // 2))

    assert [group.add(another(job), large, 0.0, record) for _ in range(2)] == [False, True]


def test_outcome_of_a_long_attempt_is_due_at_once(job: Job, clock: Clock) -> None:
    assert Group(clock).add(job, Done(), SECONDS * 1.01, record)


def test_written_group_begins_again(direct_queue: Queue, clock: Clock) -> None:
    jobs = [direct_queue.claimed() for _ in range(2)]
    group = Group(clock)
    group.add(jobs[0], Done(), 0.0, record)
    clock.now = SECONDS
    group.write()

    assert (group.add(jobs[1], Done(), 0.0, record), direct_queue.row(jobs[0].id).state) == (False, "done")
    assert (jobs[0] in group, jobs[1] in group) == (False, True)


def run(
    queue: Queue, handler: Callable[..., Any], stopping: Callable[[], bool] = lambda: False, **options: Any
) -> list[str]:
    finishes = run_jobs(queue.take(20), HandlerTable({"echo": handler}), stopping, **options)
    return [finish.ending for finish in finishes]


def test_group_is_written_while_the_next_handler_runs(direct_queue: Queue) -> None:
    first, _ = direct_queue.enqueue(priority=9), direct_queue.enqueue()
    other = direct_queue.another()

    def handler(_: object, job: Job) -> None:
        if job.id != first:
            until(lambda: other.run("get_states", ids=[first])[0]["state"] == "done")

    assert run(direct_queue, handler) == ["done", "done"]


def test_group_is_written_while_an_async_handler_blocks_the_loop(direct_queue: Queue) -> None:
    first, _ = direct_queue.enqueue(priority=9), direct_queue.enqueue()
    other = direct_queue.another()

    async def handler(_: object, job: Job) -> None:
        if job.id != first:
            until(lambda: other.run("get_states", ids=[first])[0]["state"] == "done")

    assert run(direct_queue, handler) == ["done", "done"]


def test_chunks_of_a_worker_share_a_thread(direct_queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minutehand.attempts.group.MOST_IDLE_PAUSES", 10_000)
    threads: set[Thread] = set()
    before = {*enumerate_threads()}
    for _ in range(10):
        direct_queue.enqueue()
    handlers = HandlerTable({"echo": lambda _: threads.update({*enumerate_threads()} - before)})

    assert work(direct_queue.database, handlers, Flag(), chunk=2, drain=True) == 10

    assert len(threads) == 1


def test_thread_of_an_idle_worker_ends(direct_queue: Queue) -> None:
    before, group, job = {*enumerate_threads()}, Group(), direct_queue.claimed()
    group.add(job, Done(), 0.0, record)
    group.watch(job.database.second)
    (thread,) = {*enumerate_threads()} - before
    group.write()

    until(lambda: not thread.is_alive())
    group.add(job, Done(), 0.0, record)
    group.watch(job.database.second)

    assert len({*enumerate_threads()} - before) == 1
    until(lambda: len(group) == 0)


def test_handler_may_use_the_connection_while_the_group_is_written(direct_queue: Queue) -> None:
    first, _ = direct_queue.enqueue(priority=9), direct_queue.enqueue()

    def handler(_: object, job: Job) -> None:
        if job.id != first:
            with job.database.connection.transaction():
                until(lambda: direct_queue.sql(STATE, id=first)[0]["state"] == "done")
                raise ValueError

    assert run(direct_queue, handler) == ["done", "retrying"]
    assert direct_queue.row(first).state == "done"


def test_transaction_of_a_handler_begins_after_the_group(direct_queue: Queue) -> None:
    first, second = direct_queue.enqueue(priority=9), direct_queue.enqueue()
    seen = []

    def handler(_: object, job: Job) -> None:
        if job.id == second:
            with job.transaction():
                seen.append(direct_queue.row(first).state)
                raise ValueError

    assert run(direct_queue, handler) == ["done", "retrying"]
    assert seen == ["done"]
    assert direct_queue.row(first).state == "done"


def test_outcomes_are_written_when_the_worker_stops(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue(max_attempts=1) for _ in range(4)]
    ran: list[object] = []

    endings = run(direct_queue, ran.append, stopping=lambda: len(ran) == 2)

    assert endings == ["done", "done", "released", "released"]
    assert [direct_queue.row(job_id).state for job_id in ids] == ["done", "done", "due", "due"]
    assert [direct_queue.row(job_id).attempts for job_id in ids] == [1, 1, 0, 0]


def test_outcomes_are_written_when_a_handler_is_interrupted(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue() for _ in range(3)]

    def handler(_: object, job: Job) -> None:
        if job.id == ids[1]:
            raise Interrupted

    with pytest.raises(Interrupted):
        run(direct_queue, handler)

    assert [direct_queue.row(job_id).state for job_id in ids] == ["done", "due", "due"]


def test_event_of_each_outcome_follows_its_write(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue() for _ in range(3)]
    events = []

    def hook(event: Event) -> None:
        assert event.job is not None
        events.append((event.name, event.job, direct_queue.row(event.job).state))

    run(direct_queue, lambda _: None, hook=hook)

    assert [[name for name, job, _ in events if job == job_id] for job_id in ids] == [["claimed", "done"]] * 3
    assert {state for name, _, state in events if name == "done"} == {"done"}


def test_caller_with_its_own_transaction_has_each_outcome_at_once(direct_queue: Queue) -> None:

    first, _ = direct_queue.enqueue(priority=9), direct_queue.enqueue()
    states = []
    with direct_queue.another().transaction() as connection:
        database = Database.borrow(connection)

        def handler(_: object, job: Job) -> None:
            states.append(database.run("get_states", ids=[first])[0]["state"])

        jobs = direct_queue.take(2, database=database)
        run_jobs(jobs, HandlerTable({"echo": handler}), lambda: False)

    assert states == ["running", "done"]
