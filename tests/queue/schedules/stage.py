"""Schedules as a test saves them, and the jobs and firings they leave."""

from datetime import UTC, datetime, timedelta
from typing import Any

from minutehand import NewJob, schedules
from minutehand.schedules import Schedule
from tests.queue.stage import Queue

# A Monday.
NOON = datetime(2030, 6, 3, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def save(queue: Queue, every: str = "0 * * * *", *, now: datetime = NOON, **options: Any) -> str:
    defaults: dict[str, Any] = {"name": "hourly", "every": every, "job": NewJob("report", {"n": 1})}
    schedule = Schedule(**defaults | options)
    return schedules.save(queue.database, schedule, now=now).schedule.name


def jobs(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select * from minutehand.jobs order by nominal, id")


def nominals(queue: Queue) -> list[datetime]:
    return [job["nominal"] for job in jobs(queue)]


def firings(queue: Queue, name: str = "hourly") -> list[tuple[datetime, str, int]]:
    return [
        (each.nominal, each.outcome, each.count)
        for each in reversed(schedules.list_firings(queue.database, name, limit=1000))
    ]
