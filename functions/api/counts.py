"""Counts: how many jobs there are and were, hour by hour, how long they took, and what they failed with."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Security

import shapes
from answers import Json
from asked import Bins, Counted, Spreads, Window, Zone
from body import StrictRoute
from connections import Connected
from minutehand.queries import jobs as read
from minutehand.queries import statistics as measure
from routes import bearer

counts = APIRouter(prefix="/stats", tags=["queues"], route_class=StrictRoute, dependencies=[Security(bearer)])


@counts.get("", **shapes.COUNTS)
def stats(asked: Annotated[Counted, Query()], database: Connected) -> Json:
    """Count the jobs of each queue in each state, or of each kind in it.

    Finished ones are counted since a moment, 24 hours ago unless said.
    """
    since = asked.since or read.clock(database) - timedelta(days=1)
    depths = read.stats(
        database, since=since, queue=asked.queue, kind=asked.kind, by_kind=asked.by == "kind"
    )  # fmt: skip
    return Json({"since": since, "depths": [vars(depth) for depth in depths]})


@counts.get("/histogram", **shapes.HISTOGRAM)
def histogram(asked: Annotated[Bins, Query()], database: Connected) -> Json:
    """Tell for every hour or day of a zone how many jobs were enqueued and ended, also where none were."""
    return Json({"bins": [vars(each) for each in measure.histogram(database, **vars(asked))]})


@counts.get("/durations", **shapes.DURATIONS)
def durations(asked: Annotated[Spreads, Query()], database: Connected) -> Json:
    """Tell how long attempts ran, and how long jobs waited that ended with their first."""
    window = {name: getattr(asked, name) for name in Window.model_fields}
    told = measure.durations(database, by_kind=asked.by == "kind", **window)
    return Json({"durations": [asdict(each) for each in told]})


@counts.get("/failures", **shapes.FAILURES)
def failures(asked: Annotated[Window, Query()], database: Connected) -> Json:
    """Tell with which types of errors attempts failed, the most frequent first."""
    return Json({"failures": [vars(each) for each in measure.failures(database, **vars(asked))]})


@counts.get("/today", **shapes.TODAY)
def today(asked: Annotated[Zone, Query()], database: Connected) -> Json:
    """Tell what is pending, what ended since midnight, the last failure, and what recurs next."""
    return Json(vars(measure.today(database, asked.zone)))
