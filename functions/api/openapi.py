"""OpenAPI: what the schema says of each endpoint, its examples and its problems."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.models import Example
from fastapi.openapi.utils import get_openapi

import told

DESCRIPTION = """
Jobs for later: enqueue them, look at them, change them by hand.

Execution is at least once. Every error is a problem (RFC 9457, `application/problem+json`): `type` names its kind for
programs, `detail` says what to do. Moments are RFC 3339 with an offset. Durations are told in seconds, and may be said
in seconds or ISO 8601. Numbers are kept as IEEE 754 doubles, whole numbers with every digit.
"""

JOB: dict[str, Any] = {
    "id": "0198a5b0-0000-7000-8000-000000000001",
    "queue": "default",
    "kind": "welcome",
    "state": "scheduled",
    "key": "welcome/ada",
    "priority": 5,
    "attempts": 0,
    "max_attempts": 8,
    "enqueued": "2026-01-30T12:00:00+00:00",
    "run_at": "2026-01-31T07:00:00+00:00",
    "visible": "2026-01-31T07:00:00+00:00",
    "offered": None,
    "claimed": None,
    "deleted": None,
    "error": None,
    "tenant": "",
    "version": None,
    "every": None,
    "zone": None,
    "nominal": None,
    "schedule": None,
    "cancelling": None,
}
ENQUEUED = {"id": JOB["id"], "outcome": "created", "visible": JOB["visible"]}
BROKEN_RULE = {
    "type": "urn:minutehand:problem:invalid",
    "title": "What was asked for breaks a rule",
    "status": 422,
    "detail": "delay must not be negative",
    "rule": "delay_is_not_negative",
}
OUTCOMES: dict[str, Any] = {
    "created": 1,
    "replaced": 0,
    "merged": 0,
    "ignored": 0,
    "rejected": 1,
    "items": [
        {"ordinal": 0, **ENQUEUED},
        {"ordinal": 1, "outcome": "rejected", "problem": BROKEN_RULE},
    ],
}
PAGE = {
    "jobs": [JOB], "before": JOB["id"], "next": f"/jobs?state=scheduled&limit=1&total=true&before={JOB['id']}",
    "after": None, "previous": None, "total": 12, "place": 0,
}  # fmt: skip
DEPTHS = {
    "since": JOB["enqueued"],
    "depths": [{"queue": "default", "kind": None, "state": "scheduled", "jobs": 12, "since": JOB["visible"]}],
}
WELCOME = {"kind": "welcome", "payload": {"email": "ada@example.com"}, "run_at": "2026-01-31T08:00:00+01:00"}
REMIND = {"kind": "http", "payload": {"url": "https://example.com/remind"}, "delay": "P3D", "max_attempts": 3}
ONE_JOB: dict[str, Example] = {
    "at a moment": {"value": {**WELCOME, "key": "welcome/ada", "on_conflict": "replace"}},
    "after a delay": {"value": REMIND},
    "every Monday": {
        "value": {"kind": "report", "key": "report", "every": "0 8 * * mon", "zone": "Europe/Berlin"}
    },
    "with all that can be said": {
        "value": {
            **REMIND,
            "queue": "slow",
            "key": ["remind", 17],
            "unique_while": "running",
            "priority": 9,
            "retry": {"strategy": "exponential", "min": 10, "max": "PT1H", "factor": 3.0, "jitter": True},
            "timeout": 30,
            "headers": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        }
    },
}
COLLECT = {
    "kind": "index",
    "payload": [4711],
    "key": "index",
    "on_conflict": "merge",
    "debounce": 10,
    "debounce_max": "PT5M",
}
MANY_JOBS: dict[str, Example] = {
    "three": {"value": {"jobs": [WELCOME, REMIND, COLLECT], "on_conflict": "ignore"}}
}
REASON: dict[str, Example] = {"with a reason": {"value": {"reason": "the order was withdrawn"}}}
MOMENTS: dict[str, Example] = {
    "to a moment": {"value": {"run_at": "2026-01-31T08:00:00+01:00"}},
    "from now": {"value": {"delay": "PT1H30M"}},
}
PROBLEMS = {
    400: "The body is not JSON, is ambiguous, or is nested too deeply",
    401: "No token, or none that is known",
    403: "It concerns all tenants, or the API's role in the database may not do it; or the open local API was called "
    "by another name than localhost, or by a page of another site",
    404: "There is no such job",
    409: "The job is in no state for that, or its key has an upcoming job",
    413: "The body is too large: 1 MiB for one job, 6 MiB for a batch",
    415: "The content type is not application/json",
    422: "A field is unknown or of the wrong type, or a rule is broken",
    500: "The API is at fault; its log says how",
    503: "The database is unavailable, or no tokens are set; try again after `Retry-After` seconds",
}
COMMON = (401, 403, 422, 500, 503)
WITH_BODY = (400, *COMMON, 413, 415)


def _example(example: object) -> dict[str, Any]:
    return {"application/json": {"example": example}}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": told.Problem, "description": PROBLEMS[status]} for status in sorted(statuses)}


def _says(
    status: int, description: str, model: type[Any], example: object, *problems: int, **more: Any
) -> dict[str, Any]:
    answer = {"model": model, "description": description, "content": _example(example), **more}
    return {"status_code": status, "responses": {status: answer, **_problems(*problems)}}


LINK = {
    "Link": {
        "description": 'the next page, as rel="next", and the one before, as rel="prev"',
        "schema": {"type": "string"},
    }
}
LOCATION = {"Location": {"description": "the path of the job", "schema": {"type": "string"}}}

ENQUEUE = _says(201, "Created", told.Enqueued, ENQUEUED, *WITH_BODY, 409, headers=LOCATION)
ENQUEUE["responses"][200] = {
    "model": told.Enqueued,
    "description": "The key's upcoming job was replaced, merged, or stays",
    "content": _example({**ENQUEUED, "outcome": "replaced"}),
    "headers": LOCATION,
}
BATCH = _says(
    200, "All went in", told.Outcomes, {**OUTCOMES, "rejected": 0, "items": OUTCOMES["items"][:1]}, *WITH_BODY
)
BATCH["responses"][207] = {
    "model": told.Outcomes,
    "description": "Some, or all, were rejected",
    "content": _example(OUTCOMES),
}
LIST = _says(200, "A page", told.Page, PAGE, *COMMON, headers=LINK)
GET = _says(200, "The job", told.Job, {**JOB, "retry": None, "timeout": None}, *COMMON, 404)
CHANGE = _says(
    200, "The job, changed", told.Job, {**JOB, "retry": None, "timeout": None}, *WITH_BODY, 404, 409
)
STATS = _says(200, "The counts", told.Stats, DEPTHS, *COMMON)
HEALTH = _says(200, "Reachable", told.Health, {"status": "ok"}, 403, 500, 503)


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the schema, made once, with problems under their own content type."""
    if not app.openapi_schema:
        schema = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    if int(status) >= 400:
                        response["content"] = _problem_content(int(status), response)
        app.openapi_schema = schema
    return app.openapi_schema


def _problem_content(status: int, response: dict[str, Any]) -> dict[str, Any]:
    schema = response["content"]["application/json"]["schema"]
    example = {
        "type": "about:blank",
        "title": response["description"],
        "status": status,
        "detail": response["description"],
    }
    return {"application/problem+json": {"schema": schema, "example": example}}
