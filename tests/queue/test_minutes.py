"""The history of minutes: ticks count what is over, longer steps are its sums, and the rest is read from the jobs."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from minutehand.database import Database
from minutehand.database.tenants import as_tenant
from minutehand.maintenance import run_maintenance
from minutehand.queries.history import History, percentiles, read_history
from tests.queue.logins import Login
from tests.queue.past import finished
from tests.queue.scan import read_few_rows
from tests.queue.stage import Queue

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
FIGURES = ("enqueued", "done", "dead", "expired", "cancelled")


def begin(queue: Queue, at: datetime) -> None:
    """Set the time until which jobs are counted."""
    queue.sql(
        "update minutehand.history_counted set until = date_trunc('minute', %(at)s::timestamptz)", at=at
    )


def count_only(database: Database, at: datetime) -> None:
    database.run("count_minutes", now=at)


def count(queue: Queue, at: datetime, step: Callable[[Database, datetime], object] = run_maintenance) -> None:
    """Count all minutes. A single tick stops after half a second."""
    until = None
    while until != (until := queue.sql("select until from minutehand.history_counted")[0]["until"]):
        step(queue.database, at)


def now(queue: Queue) -> datetime:
    moment: datetime = queue.sql("select clock_timestamp() as now")[0]["now"]
    return moment


def totals(history: History) -> tuple[int, ...]:
    return tuple(sum(getattr(each, name) for each in history.bins) for name in FIGURES)


def stored(queue: Queue, step: int) -> list[tuple[int, int]]:
    rows = queue.sql(
        "select done, dead from minutehand.history where step = %(step)s and done + dead > 0 order by start",
        step=step,
    )
    return [(row["done"], row["dead"]) for row in rows]


def test_ticks_count_minutes_and_add_them_up(queue: Queue) -> None:
    hour = now(queue).replace(minute=0, second=0, microsecond=0) - 2 * HOUR
    finished(queue, hour + 3 * MINUTE, count=2)
    finished(queue, hour + 3.5 * MINUTE, "dead")
    finished(queue, hour + 31 * MINUTE)
    begin(queue, hour)
    count(queue, hour + HOUR + 11 * MINUTE)

    assert stored(queue, 60) == [(2, 1), (1, 0)]
    assert stored(queue, 900) == [(2, 1), (1, 0)]
    assert stored(queue, 3600) == [(3, 1)]


def test_jobs_are_counted_once_before_and_after_a_tick(queue: Queue) -> None:
    at = now(queue)
    begin(queue, at - 30 * MINUTE)
    finished(queue, at - 20 * MINUTE, count=3)
    finished(queue, at - 5 * MINUTE, "cancelled")
    queue.enqueue(queue="new")
    for _ in range(2):
        assert totals(read_history(queue.database))[1:] == (3, 0, 0, 1)
        assert totals(read_history(queue.database, queue="new")) == (1, 0, 0, 0, 0)
        run_maintenance(queue.database)

    assert totals(read_history(queue.database, "24h"))[1:] == (3, 0, 0, 1)
    assert totals(read_history(queue.database, "7d"))[1:] == (3, 0, 0, 1)


@pytest.mark.parametrize(("window", "bins"), [("1h", 60), ("24h", 96), ("7d", 168)])
def test_window_has_all_steps_up_to_now(queue: Queue, window: str, bins: int) -> None:
    history = read_history(queue.database, window)  # type: ignore[call-overload]

    assert len(history.bins) == bins
    assert history.bins[-1].start <= history.until < history.bins[-1].start + history.step
    assert history.bins[0].start == history.since
    assert history.complete and history.wait is None


def test_history_of_a_queue_has_its_jobs_only(queue: Queue) -> None:
    at = now(queue)
    begin(queue, at - HOUR)
    finished(queue, at - 2 * MINUTE, queue="a")
    finished(queue, at - 2 * MINUTE, queue="b", count=2)

    assert totals(read_history(queue.database, queue="b"))[1] == 2


def test_tenant_sees_its_own_jobs_only(queue: Queue) -> None:
    at = now(queue)
    finished(queue, at - 2 * MINUTE, tenant="a")
    finished(queue, at - 2 * MINUTE, tenant="b", count=2)
    begin(queue, at - HOUR)
    run_maintenance(queue.database)

    with as_tenant(queue.database, "b") as database:
        assert totals(read_history(database))[1] == 2


@pytest.mark.parametrize("role", ["tenant", "operator"])
def test_tenant_cannot_read_the_figures_of_all_tenants(queue: Queue, login: Login, role: str) -> None:
    at = now(queue)
    finished(queue, at - 2 * MINUTE, tenant="b", count=2)
    begin(queue, at - HOUR)
    count(queue, at + 11 * MINUTE)
    assert stored(queue, 60) == [(2, 0)]

    with as_tenant(login(role), "a") as database:
        assert database.connection.execute("select * from minutehand.history").fetchall() == []


def test_waits_and_runs_have_percentiles(queue: Queue) -> None:
    at = now(queue)
    begin(queue, at - HOUR)
    finished(queue, at - 2 * MINUTE, count=98, seconds=1)
    finished(queue, at - 2 * MINUTE, count=2, seconds=60)
    wait = read_history(queue.database).wait

    assert wait is not None and wait.count == 100
    assert wait.p50 == pytest.approx(1, rel=0.42) and wait.p99 == pytest.approx(60, rel=0.42)
    assert percentiles({}) is None


def test_long_pause_does_not_keep_ticks_busy(queue: Queue) -> None:
    at = now(queue)
    begin(queue, at - timedelta(days=400))
    run_maintenance(queue.database)
    # What half a second allows.
    (row,) = queue.sql("select until from minutehand.history_counted")

    assert row["until"] > at - timedelta(days=9)


@pytest.mark.fault("functions/history", r"if since > clock \+ interval '10 minutes'", "if false")
def test_clock_that_was_set_back_does_not_stop_the_history(queue: Queue) -> None:
    at = now(queue)
    begin(queue, at - HOUR)
    run_maintenance(queue.database, at + timedelta(days=1))
    begin(queue, at + timedelta(days=1))
    run_maintenance(queue.database)
    finished(queue, at, count=2)

    count(queue, at + 12 * MINUTE)

    assert stored(queue, 60) == [(2, 0)]


@pytest.mark.fault("functions/history", r"minutehand.scan_rows\('minute'\)", "null")
def test_minute_with_too_many_jobs_does_not_stop_a_tick(queue: Queue) -> None:
    read_few_rows(queue)
    at = now(queue).replace(second=0, microsecond=0)
    finished(queue, at - 5 * MINUTE, count=13)
    finished(queue, at - 4 * MINUTE, count=2)
    begin(queue, at - 10 * MINUTE)

    count(queue, at + MINUTE)

    assert stored(queue, 60) == [(2, 0)]


@pytest.mark.fault("functions/history", r"and \(h.step > 60 or [^\n]*\n", "\n")
def test_minutes_are_deleted_after_their_hour_was_added_up(queue: Queue) -> None:
    hour = now(queue).replace(minute=0, second=0, microsecond=0) - 5 * HOUR
    finished(queue, hour + 3 * MINUTE)
    finished(queue, hour + 31 * MINUTE)
    begin(queue, hour)
    count(queue, hour + 20 * MINUTE, count_only)
    queue.database.run("prune_history", now=hour + 5 * HOUR)

    count(queue, hour + HOUR + 11 * MINUTE, count_only)

    assert stored(queue, 3600) == [(2, 0)]
