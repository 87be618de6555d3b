"""Count and change all jobs that match a filter, and group failures by cause."""

from typing import Annotated, Any

from fastapi import Body, Query

from minutehand.functions.api.dependencies import Actor, Connected, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import search as schemas
from minutehand.functions.api.schemas.bulk import OUTCOMES
from minutehand.functions.api.schemas.job_filter import SearchFilter
from minutehand.functions.api.schemas.jobs import listed_job
from minutehand.functions.api.schemas.search import CauseFilter, MatchingRequest
from minutehand.operations.matching import change_matching, preview_matching
from minutehand.queries.causes import Cause, failures_by_cause
from minutehand.queries.search import count_matching

router = create_router("jobs")


@router.get("/jobs/counts", **responds(200, "The counts", schemas.StateCounts, schemas.COUNTS, *COMMON))
def count_jobs(filters: Annotated[SearchFilter, Query()], database: Connected) -> Json:
    """Count the jobs that match a filter by state, among the newest 10,000 unfinished, finished and dead ones."""
    counts = count_matching(database, filters.to_search())
    return Json({"counts": counts.states, "more": list(counts.stopped), "stopped": not counts.complete})


@router.post("/jobs/matching", **responds(200, "The outcome", schemas.Matching, schemas.MATCHING, *WITH_BODY))
def change_matching_jobs(
    request: Annotated[MatchingRequest, Body(openapi_examples=schemas.MATCHING_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Make one change to all jobs that match a filter, at most `limit` of them; by default only count them.

    Jobs in states that do not allow the change are left out. Repeat the request with `after` until it is null.
    """
    search = request.filter.to_search()
    if request.dry_run:
        preview = preview_matching(database, request.verb, search)
        sample = [listed_job(row) for row in preview.sample]
        return Json({"dry_run": True, "count": preview.count, "more": preview.more, "sample": sample})
    options = {
        name: getattr(request, name) for name in ("limit", "after", "per_minute", "reason", "run_at", "delay")
    }
    made = change_matching(database, request.verb, search, **options, actor=actor)
    outcomes = {name: made.outcomes.get(name, 0) for name in OUTCOMES}
    return Json({"dry_run": False, **outcomes, "refusals": made.refusals, "after": made.after})


@router.get("/failures", **responds(200, "The causes", schemas.Causes, schemas.CAUSES, *COMMON))
def group_failures(filters: Annotated[CauseFilter, Query()], database: Connected) -> Json:
    """Group the jobs that died or wait for another attempt by the cause of their failure, the most frequent first.

    It reads the latest 5,000 dead and 10,000 unfinished jobs. To retry a group, send its filter to `/jobs/matching`.
    """
    found = failures_by_cause(database, **vars(filters))
    groups = [_group_fields(each, found.since.isoformat()) for each in found.groups]
    return Json({**vars(found), "groups": groups})


def _group_fields(cause: Cause, since: str) -> dict[str, Any]:
    named = {name: getattr(cause, name) for name in ("queue", "kind", "cause")}
    dead = {"state": ["dead"], "finished_since": since} if cause.dead else {"state": ["retrying", "due"]}
    return {**vars(cause), "filter": named | dead}
