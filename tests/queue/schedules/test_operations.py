"""Pause, resume, run, change and delete schedules."""

from uuid import UUID

import pytest

from minutehand import NotFoundError, schedules
from minutehand.schedules.fire import Fired, enqueue_now, fire_due
from tests.queue.schedules.stage import HOUR, MINUTE, NOON, firings, jobs, nominals, save
from tests.queue.stage import Queue


def test_change_withdraws_jobs_enqueued_ahead(queue: Queue) -> None:
    save(queue, ahead=3 * HOUR)
    assert fire_due(queue.database, NOON + MINUTE).fired == 3
    assert [job["visible"] > NOON for job in jobs(queue)] == [True] * 3

    save(queue, "30 * * * *", ahead=3 * HOUR, now=NOON + 70 * MINUTE)
    fire_due(queue.database, NOON + 71 * MINUTE)

    waiting = [job["nominal"] for job in jobs(queue) if job["deleted"] is None]
    assert waiting == [NOON + HOUR, *(NOON + n * HOUR + 30 * MINUTE for n in (1, 2, 3))]
    schedules.pause(queue.database, "hourly", now=NOON + 100 * MINUTE)
    assert [job["nominal"] for job in jobs(queue) if job["deleted"] is None] == waiting[:2]
    schedules.resume(queue.database, "hourly", now=NOON + 101 * MINUTE)
    fire_due(queue.database, NOON + 101 * MINUTE)
    assert [job["nominal"] for job in jobs(queue) if job["deleted"] is None] == [
        *waiting,
        NOON + 4 * HOUR + 30 * MINUTE,
    ]


def test_resume_continues_with_the_next_future_occurrence(queue: Queue) -> None:
    save(queue, catch_up="all")
    schedules.pause(queue.database, "hourly", actor="ada", now=NOON)
    assert fire_due(queue.database, NOON + 5 * HOUR) == Fired()

    resumed = schedules.resume(queue.database, "hourly", actor="ada", now=NOON + 5 * HOUR)

    assert resumed.next == NOON + 6 * HOUR
    assert fire_due(queue.database, NOON + 6 * HOUR) == Fired(fired=1)
    assert nominals(queue) == [NOON + 6 * HOUR]


def test_run_now_does_not_affect_the_regular_occurrences(queue: Queue) -> None:
    save(queue)
    first, second = (schedules.run_now(queue.database, "hourly", actor="ada", now=NOON) for _ in range(2))

    assert first != second
    assert queue.row(first).state == "due"
    assert schedules.get(queue.database, "hourly").next == NOON + HOUR
    assert [outcome for _, outcome, _ in firings(queue)] == ["requested", "requested"]
    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)


def test_schedule_changes_are_recorded_in_the_audit_trail(queue: Queue) -> None:
    save(queue)
    for act in (schedules.pause, schedules.resume, schedules.run_now, schedules.delete):
        act(queue.database, "hourly", actor="ada")  # type: ignore[operator]

    trail = queue.sql("select actor, verb, job, facts from minutehand.audit order by id")
    assert [(row["verb"], row["facts"]["schedule"]) for row in trail] == [
        (f"schedule {verb}", "hourly") for verb in ("put", "pause", "resume", "run", "delete")
    ]
    assert {row["actor"] for row in trail[1:]} == {"ada"}
    assert isinstance(trail[3]["job"], UUID)


def test_missing_schedule_is_not_found(queue: Queue) -> None:
    for act in (schedules.get, schedules.pause, schedules.resume, schedules.run_now, schedules.delete):
        with pytest.raises(NotFoundError):
            act(queue.database, "nothing")  # type: ignore[operator]


def test_running_a_deleted_schedule_raises_not_found(queue: Queue) -> None:
    stored = schedules.get(queue.database, save(queue))
    schedules.delete(queue.another(), "hourly")

    with pytest.raises(NotFoundError):
        enqueue_now(queue.database, stored, NOON)
