"""Circuit breakers: a group whose jobs fail pauses, one job at a time then shows whether it works again."""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from minutehand import Job, RetryAfter
from minutehand.errors import InvalidJobError
from minutehand.finish import finish, finish_all
from minutehand.model.offer import Offer
from minutehand.model.outcome import Cancelled, Done, Failed, Snoozed
from minutehand.operations.controls import limit, list_controls
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no"}
PAUSE = timedelta(minutes=5)
OVER = """update minutehand.breakers set open_until = least(open_until, clock_timestamp()),
                                        slow_until = least(slow_until, clock_timestamp())"""
STATE = "select failures, opened, open_until from minutehand.breakers"


def declare(queue: Queue, after: int = 2, most: int = 5) -> None:
    limit(queue.database, most, per="group", queue="default", break_after=after, break_for=PAUSE)


def fill(queue: Queue, count: int, group: str = "a") -> None:
    for _ in range(count):
        queue.enqueue(group=group)


def fail(job: Job, **options: Any) -> None:
    assert finish(job, Failed(ERROR, LONG, **options)).ending in ("retrying", "dead")


def broken(queue: Queue) -> None:
    """Open the breaker of group a by two failures; three of its jobs are due."""
    declare(queue)
    fill(queue, 5)
    for job in queue.take(2):
        fail(job)


@pytest.mark.every_server
@pytest.mark.parametrize("final", [False, True])
def test_group_pauses_after_failures_in_a_row(queue: Queue, final: bool) -> None:
    declare(queue)
    fill(queue, 5)
    first, second = queue.take(2)
    fail(first, final=final)
    assert len(queue.take(1)) == 1
    fail(second, final=final)
    fill(queue, 1, "b")

    assert [job.group for job in queue.take(5)] == ["b"]
    assert queue.offer() == []


@pytest.mark.parametrize(
    "outcome", [Done(), Snoozed(LONG), Cancelled(ERROR)], ids=lambda each: type(each).__name__
)
def test_only_success_ends_a_row_of_failures(queue: Queue, outcome: Any) -> None:
    declare(queue)
    fill(queue, 5)
    first, second, third = queue.take(3)
    fail(first)
    finish(second, outcome)
    fail(third)

    assert len(queue.take(5)) == (2 if outcome == Done() else 0)


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("done", [[], [0], [2]], ids=str)
def test_outcomes_written_together_count(queue: Queue, final: bool, done: list[int]) -> None:
    """Their order is not known: a success does not hide the failures."""
    declare(queue)
    fill(queue, 5)
    failed = Failed(ERROR, LONG, final=final)
    list(
        finish_all(
            [(job, Done() if n in done else failed) for n, job in enumerate(queue.take(2 + len(done)))]
        )
    )

    assert queue.take(5) == []


def test_success_ends_only_failures_of_earlier_writes(queue: Queue) -> None:
    declare(queue)
    fill(queue, 5)
    first, *others = queue.take(3)
    fail(first)
    list(finish_all([(others[0], Done()), (others[1], Failed(ERROR, final=True))]))

    assert queue.sql(STATE)[0]["failures"] == 1


@pytest.mark.fault("functions/limits", r"b\.starts or b\.per = 'breaker' then", "b.starts then")
@pytest.mark.fault("functions/breakers", "return .select s.half_open::integer", "return (select 5")
@pytest.mark.parametrize("succeeds", [True, False])
def test_one_probe_closes_the_breaker_or_opens_it_again(queue: Queue, succeeds: bool) -> None:
    broken(queue)
    queue.sql(OVER)
    probes = queue.take(5)
    assert (len(probes), queue.take(5), queue.offer()) == (1, [], [])
    finish(probes[0], Done() if succeeds else Failed(ERROR, LONG))

    assert len(queue.take(5)) == (2 if succeeds else 0)


def test_lost_probe_is_followed_by_another(queue: Queue) -> None:
    broken(queue)
    queue.sql(OVER)
    (probe,) = queue.take(5)
    queue.pass_time(probe.id)

    assert len(queue.take(5)) == 1


def test_breaker_that_is_no_longer_declared_holds_nothing(queue: Queue) -> None:
    broken(queue)
    limit(queue.database, 5, per="group", queue="default")

    assert len(queue.take(5)) == 3


def test_late_success_does_not_close_an_open_breaker(queue: Queue) -> None:
    declare(queue)
    fill(queue, 5)
    first, second, late = queue.take(3)
    fail(first)
    fail(second)
    finish(late, Done())

    assert queue.take(5) == []


def test_breaker_is_of_one_group_queue_and_tenant(queue: Queue) -> None:
    broken(queue)
    queue.enqueue(group="a", tenant="acme")
    queue.enqueue(group="a", queue="mail")

    assert len(queue.offer()) == 2


def test_limit_of_a_group_keeps_the_breaker_per_group(queue: Queue) -> None:
    limit(queue.database, 9, group="a", queue="default")
    broken(queue)
    assert queue.take(5) == []


def test_list_shows_open_breakers_and_the_next_probe(queue: Queue) -> None:
    broken(queue)
    (control,) = list_controls(queue.database)
    assert (control.break_after, control.break_for, control.open, control.full) == (2, PAUSE, 1, 1)
    assert control.free_at is not None
    queue.sql(OVER)

    assert [(each.open, each.free_at) for each in list_controls(queue.database)] == [(1, None)]


def offered_after_retry_after(queue: Queue, group: str | None) -> list[int]:
    """Let one of two jobs raise RetryAfter; return how many are offered at once, and after the wait."""

    def busy(_: Job) -> None:
        raise RetryAfter(PAUSE)

    for _ in range(2):
        queue.enqueue(group=group)
    assert [ending.ending for ending in queue.work(busy)] == ["retrying"]
    (row,) = queue.sql("select clock_timestamp() as now")
    return [len(queue.offer()), len(queue.offer(now=row["now"] + PAUSE))]


@pytest.mark.fault("functions/breakers", r"clock_timestamp\(\) \+ ended.hold", "clock_timestamp()")
def test_retry_after_slows_the_group(queue: Queue) -> None:
    """Without a breaker as well. Its jobs then start one by one."""
    assert offered_after_retry_after(queue, "a") == [0, 1]


def test_retry_after_slows_no_other_job_without_a_group(queue: Queue) -> None:
    assert offered_after_retry_after(queue, None) == [1, 2]


def test_row_of_failures_grows_until_a_success(queue: Queue) -> None:
    """Since when it is open stays the same while probes fail."""
    broken(queue)
    (first,) = queue.sql(STATE)
    queue.sql(OVER)
    fail(queue.take()[0])
    (second,) = queue.sql(STATE)
    assert (first["failures"], second["failures"]) == (2, 3)
    assert first["opened"] == second["opened"] and first["open_until"] < second["open_until"]
    queue.sql(OVER)
    finish(queue.take()[0], Done())

    assert queue.sql(STATE) == [{"failures": 0, "opened": None, "open_until": None}]


@pytest.mark.every_server
def test_trap_concurrent_sessions_start_one_probe(queue: Queue) -> None:
    broken(queue)
    fill(queue, 20)
    queue.sql(OVER)
    barrier = Barrier(8, timeout=60)

    def session(place: int) -> int:
        database = queue.another()
        barrier.wait()
        started: list[Job] | list[Offer] = (
            queue.take(5, database=database) if place % 2 else queue.offer(50, database=database)
        )
        return len(started)

    assert sum(each.result() for each in [queue.start(session, place) for place in range(8)]) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"break_after": 0},
        {"break_after": True},
        {"break_for": PAUSE},
        {"break_after": 2, "break_for": timedelta(milliseconds=1)},
        {"break_after": 2, "per": "tenant"},
    ],
    ids=str,
)
def test_invalid_breaker_is_rejected(queue: Queue, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidJobError, match=r"break_after|break_for|at least one"):
        limit(queue.database, **{"per": "group"} | options)
