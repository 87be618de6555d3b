"""Rows and partitions of the past."""

from datetime import date

from tests.queue.stage import Queue


def count(queue: Queue, home: str = "jobs_done") -> int:
    return len(queue.sql(f"select 1 from minutehand.{home}"))  # type: ignore[arg-type]


def partition(day: date, home: str = "jobs_done") -> str:
    return f"{home}_{day:%Y%m%d}"
