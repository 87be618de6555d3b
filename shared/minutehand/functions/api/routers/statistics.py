"""Count jobs by state and over time, measure durations, and count failures."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Query

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.functions.api.dependencies import Connected, create_router
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import statistics as schemas
from minutehand.functions.api.schemas.statistics import (
    CountFilter,
    DurationFilter,
    HistogramFilter,
    TodayFilter,
    WindowFilter,
)
from minutehand.functions.api.size import check_size
from minutehand.operations.controls import pause_of_everything
from minutehand.queries import jobs as queries
from minutehand.queries import statistics
from minutehand.queries.depths import MAX_LIMIT, bounded_stats

DURATIONS = responds(200, "The durations", schemas.Durations, {"durations": [schemas.DURATION]}, *COMMON, 413)
FAILURES = responds(200, "The failures", schemas.Failures, {"failures": [schemas.FAILURE]}, *COMMON, 413)

router = create_router("queues", prefix="/stats")


@router.get("", **responds(200, "The counts", schemas.Depths, schemas.DEPTHS, *COMMON, 413))
def stats(filters: Annotated[CountFilter, Query()], database: Connected) -> Json:
    """Count the jobs in each state, per queue or per kind.

    Finished jobs are counted since a time, 24 hours ago by default. `paused` is the pause of all jobs. All jobs are
    counted, which takes time in proportion to their number. With `limit`, at most so many in each state of a queue are
    counted, in a short time: `more` says where there may be more, and done, expired and cancelled jobs are left out.
    """
    since = filters.since or queries.clock(database) - timedelta(days=1)
    depths = _bounded_depths(database, filters, since) if filters.limit else _depths(database, filters, since)
    pause = pause_of_everything(database)
    paused = pause and {"until": pause.until, "reason": pause.reason, "changed": pause.changed}
    return _bounded({"since": since, "paused": paused, "depths": depths})


@router.get(
    "/histogram", **responds(200, "The bins", schemas.Histogram, {"bins": [schemas.BIN]}, *COMMON, 413)
)
def histogram(filters: Annotated[HistogramFilter, Query()], database: Connected) -> Json:
    """Count the jobs enqueued and finished in every hour or day of a time zone, including empty ones."""
    return _bounded({"bins": [vars(each) for each in statistics.histogram(database, **vars(filters))]})


@router.get("/durations", **DURATIONS)
def durations(filters: Annotated[DurationFilter, Query()], database: Connected) -> Json:
    """Measure how long attempts ran, and how long the jobs that finished at their first attempt waited."""
    window = {name: getattr(filters, name) for name in WindowFilter.model_fields}
    found = statistics.durations(database, by_kind=filters.by == "kind", **window)
    return _bounded({"durations": [asdict(each) for each in found]})


@router.get("/failures", **FAILURES)
def failures(filters: Annotated[WindowFilter, Query()], database: Connected) -> Json:
    """Count failed attempts by type of error, the most frequent first."""
    return _bounded({"failures": [vars(each) for each in statistics.failures(database, **vars(filters))]})


@router.get("/today", **responds(200, "The summary", schemas.Today, schemas.TODAY, *COMMON))
def today(filters: Annotated[TodayFilter, Query()], database: Connected) -> Json:
    """Summarize the day since midnight: pending and finished jobs, the last failure, and the next schedule."""
    return Json(vars(statistics.today(database, filters.zone)))


def _depths(database: Database, filters: CountFilter, since: datetime) -> list[dict[str, Any]]:
    by_kind = filters.by == "kind"
    found = queries.stats(database, since=since, queue=filters.queue, kind=filters.kind, by_kind=by_kind)
    return [{**vars(depth), "more": False} for depth in found]


def _bounded_depths(database: Database, filters: CountFilter, since: datetime) -> list[dict[str, Any]]:
    if filters.kind or filters.by == "kind":
        raise InvalidJobError("limit_is_by_queue", "limit must not be used with kind or by=kind")
    found = bounded_stats(database, since=since, queue=filters.queue, limit=filters.limit or MAX_LIMIT)
    return [{**vars(depth), "kind": None} for depth in found]


def _bounded(content: dict[str, Any]) -> Json:
    return Json(check_size(content, "select a queue, a kind or a shorter time"))
