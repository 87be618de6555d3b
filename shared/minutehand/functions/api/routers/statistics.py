"""Count jobs by state and over time, measure durations, and count failures."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query

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

DURATIONS = responds(200, "The durations", schemas.Durations, {"durations": [schemas.DURATION]}, *COMMON, 413)
FAILURES = responds(200, "The failures", schemas.Failures, {"failures": [schemas.FAILURE]}, *COMMON, 413)

router = create_router("queues", prefix="/stats")


@router.get("", **responds(200, "The counts", schemas.Depths, schemas.DEPTHS, *COMMON, 413))
def stats(filters: Annotated[CountFilter, Query()], database: Connected) -> Json:
    """Count the jobs in each state, per queue or per kind.

    Finished jobs are counted since a time, 24 hours ago by default. `paused` is the pause of all jobs.
    """
    since = filters.since or queries.clock(database) - timedelta(days=1)
    by_kind = filters.by == "kind"
    depths = queries.stats(database, since=since, queue=filters.queue, kind=filters.kind, by_kind=by_kind)
    pause = pause_of_everything(database)
    paused = pause and {"until": pause.until, "reason": pause.reason, "changed": pause.changed}
    return _bounded({"since": since, "paused": paused, "depths": [vars(depth) for depth in depths]})


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


def _bounded(content: dict[str, Any]) -> Json:
    return Json(check_size(content, "select a queue, a kind or a shorter time"))
