"""In mode sleep, ticks and workers request the next tick, and leave no connection open."""

from datetime import timedelta

import psycopg
import pytest

from minutehand import Database, NewJob, Retry, enqueue
from minutehand.claim import claim
from minutehand.errors import UnreachableError
from minutehand.model.invitation import parse
from minutehand.operations import controls
from minutehand.schedules import manage
from minutehand.schedules.schedule import Schedule
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.tick import tick
from minutehand.waking import sleep
from minutehand.waking.wakeups import LEAD
from tests.sleep.stage import HOUR, MINUTE, NOON, SECOND, Stage
from tests.waiting import until

SESSIONS = """
    select count(*)
      from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()"""

NOTED = "select wakeup_error from minutehand.dispatcher where wakeup_failed is not null"


def test_wakeup_that_has_fired_is_not_requested_again(stage: Stage) -> None:
    stage.enqueue()
    assert stage.wakeups("wake") == [NOON + MINUTE]
    stage.go(NOON + MINUTE + 0.3 * SECOND)
    (event,) = stage.tick()
    # The wake-up has fired, and EventBridge has not deleted it yet.
    stage.go(NOON + MINUTE + 0.5 * SECOND)
    stage.work(event)
    stage.enqueue()
    assert stage.wakeups("wake") == [NOON + MINUTE, NOON + 2 * MINUTE]
    # So close to the next minute that its wake-up may fire first.
    stage.go(NOON + 2 * MINUTE - LEAD / 2)
    stage.enqueue()

    assert stage.wakeups("wake")[-1] == NOON + 3 * MINUTE


def test_worker_that_ends_the_last_job_ends_the_watches(stage: Stage) -> None:
    for _ in range(2):
        stage.enqueue()
    stage.go(NOON + MINUTE)
    first, second = stage.tick()
    assert stage.wakeups("watch") == [NOON + 2 * MINUTE]
    stage.work(first)
    assert stage.wakeups("watch") == [NOON + 2 * MINUTE]
    stage.work(second)

    assert stage.wakeups("watch") == []
    assert stage.wakeups("wake") == [NOON + MINUTE]


def test_lease_of_a_dead_worker_has_a_watch(stage: Stage) -> None:
    stage.enqueue()
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    (job,) = claim(stage.worker, parse(event).offers, 10 * MINUTE, SECOND)
    stage.go(stage.wakeups("watch")[-1])
    assert stage.tick() == []

    assert job.attempt == 1
    assert stage.wakeups("watch")[-1] == NOON + 12 * MINUTE


def test_retry_has_a_wakeup_when_the_worker_ends(stage: Stage) -> None:
    stage.enqueue("fail", retry=Retry(strategy="fixed", min=timedelta(minutes=30), jitter=False))
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    stage.work(event)

    assert stage.wakeups("wake")[-1] == NOON + timedelta(minutes=32)


def test_jobs_of_an_open_transaction_are_found_a_minute_later(stage: Stage) -> None:
    with psycopg.connect(stage.url) as connection:
        enqueue("echo", connection=connection)
        for minute in (1, 2, 3):
            stage.go(NOON + minute * MINUTE)
            assert stage.tick() == []
            assert stage.wakeups("wake")[-1] == NOON + (minute + 1) * MINUTE
    stage.go(NOON + 4 * MINUTE)

    assert len(stage.tick()) == 1


def test_paused_jobs_need_no_tick_until_the_pause_ends(stage: Stage) -> None:
    controls.pause(stage.database, queue="mail", until=NOON + 5 * HOUR)
    controls.pause(stage.database, kind="echo", until=NOON + 7 * HOUR)
    stage.enqueue(queue="mail")
    stage.enqueue()
    stage.enqueue("fail", delay=6 * HOUR)
    stage.go(NOON + MINUTE)
    assert stage.tick() == []

    (record,) = stage.database.run("next_need")
    assert record["needed"] == NOON + 5 * HOUR
    assert stage.wakeups("wake")[1] == NOON + 5 * HOUR


def test_waiting_jobs_are_ticked_every_minute(stage: Stage) -> None:
    controls.limit(stage.database, 1, queue="default")
    for _ in range(2):
        stage.enqueue()
    stage.go(NOON + MINUTE)
    assert len(stage.tick()) == 1

    assert stage.wakeups("wake")[-1] == NOON + 2 * MINUTE


def test_group_that_is_unblocked_has_a_wakeup(stage: Stage) -> None:
    """Without it, its jobs would wait for the end of the time that RetryAfter asked for."""
    for kind in ("busy", "echo"):
        stage.enqueue(kind, group="a")
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    stage.work(event)
    assert stage.wakeups("wake")[-1] >= NOON + 5 * HOUR
    stage.go(NOON + 3 * MINUTE)
    assert controls.unblock(stage.database, "a")

    assert NOON + 4 * MINUTE in stage.wakeups("wake")


def test_first_tick_of_the_mode_requests_the_wakeups_of_earlier_jobs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_MODE", "minute")
    stage.enqueue(delay=3 * HOUR)
    manage.save(stage.database, Schedule("often", timedelta(hours=2), NewJob("echo")))
    assert stage.tick() == []
    assert stage.event_bridge.minutes == []
    monkeypatch.setenv("MINUTEHAND_MODE", "sleep")
    assert stage.tick() == []

    # The next minute, as after each change of the mode, and the schedule.
    soon, first = stage.wakeups("wake")
    assert soon == NOON + MINUTE
    assert first <= NOON + 2 * HOUR + MINUTE


def test_tick_of_another_program_does_not_change_the_mode(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.tick()
    monkeypatch.setenv("MINUTEHAND_MODE", "minute")
    tick(stage.worker, RecordingInvoker(), Settings(capacity=1))

    assert stage.database.connection.execute("select mode from minutehand.dispatcher").fetchall() == [
        ("sleep",)
    ]


def test_failed_tick_is_repeated_a_minute_later(stage: Stage) -> None:
    unreachable = Database("postgresql://127.0.0.1:9/none?connect_timeout=1")
    with pytest.raises(UnreachableError), sleep.invocation(unreachable, ticks=True):
        unreachable.run("clock")

    assert len(stage.wakeups("wake")) == 1


def test_wakeup_that_a_tick_cannot_create_is_reported(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.enqueue(delay=HOUR)
    monkeypatch.setenv("MINUTEHAND_WAKEUP_GROUP", "absent")
    assert not tick(stage.worker, RecordingInvoker(), Settings(capacity=1)).arranged
    (noted,) = stage.database.connection.execute(NOTED).fetchall()
    assert "EventBridge Scheduler answered" in noted[0]

    monkeypatch.setenv("MINUTEHAND_WAKEUP_GROUP", stage.event_bridge.group)
    assert tick(stage.worker, RecordingInvoker(), Settings(capacity=1)).arranged
    assert stage.database.connection.execute(NOTED).fetchall() == []


def test_invocations_leave_no_connection_open(stage: Stage) -> None:
    stage.enqueue()
    stage.go(NOON + MINUTE)
    (event,) = stage.tick()
    stage.work(event)

    until(lambda: stage.database.connection.execute(SESSIONS).fetchone() == (0,))
