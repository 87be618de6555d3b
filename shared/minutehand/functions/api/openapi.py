"""OpenAPI: the responses and problems that each endpoint documents, and the schema."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from minutehand.functions.api.resources import Resources
from minutehand.functions.api.schemas.problems import Problem

DESCRIPTION = """
Enqueue jobs for later, inspect them and change them.

Execution is at least once. Every error is a problem (RFC 9457, `application/problem+json`): `type` identifies it for
programs, `detail` says how to fix it. Times are RFC 3339 with an offset. Durations in responses are seconds; requests
accept seconds or ISO 8601. Numbers are stored as IEEE 754 doubles, integers with every digit.
"""
PROBLEMS = {
    400: "The body is not valid JSON, is ambiguous, or is nested too deeply",
    401: "The token is missing or invalid",
    403: "The operation concerns all tenants; the API's database role lacks a privilege; or a request to the local API "
    "comes from another site or uses a host name other than localhost",
    404: "The job, schedule or key does not exist",
    409: "The job's state does not allow this, or its key already has an upcoming job",
    413: "The body is too large: at most 1 MiB for one job, 6 MiB for a batch; or the response would be",
    415: "The content type is not application/json",
    422: "A field is unknown, has the wrong type or breaks a rule",
    500: "The API failed; see its log",
    503: "The database is unavailable, or the API has no tokens; try again after `Retry-After` seconds",
}
COMMON = (401, 403, 422, 500, 503)
WITH_BODY = (400, *COMMON, 413, 415)
LINK = {
    "Link": {
        "description": 'the next page as rel="next", and the previous one as rel="prev"',
        "schema": {"type": "string"},
    }
}
LOCATION = {"Location": {"description": "the path of the job", "schema": {"type": "string"}}}


def responds(
    status: int, description: str, model: type[Any], example: object, *problems: int, **members: Any
) -> dict[str, Any]:
    """Return the options of a FastAPI route that document its response, with an example, and its problems."""
    documented: dict[int | str, dict[str, Any]] = {
        status: response(description, model, example, **members),
        **{code: {"model": Problem, "description": PROBLEMS[code]} for code in sorted(problems)},
    }
    return {"status_code": status, "responses": documented}


def response(description: str, model: type[Any], example: object, **members: Any) -> dict[str, Any]:
    """Return the documentation of one response."""
    content = {"application/json": {"example": example}}
    return {"model": model, "description": description, "content": content, **members}


def build_schema(app: FastAPI, resources: Resources) -> dict[str, Any]:
    """Return the schema, built once, with problems under their own content type."""
    if not app.openapi_schema:
        resources.add_all()
        schema = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, documented in operation["responses"].items():
                    if int(status) >= 400:
                        documented["content"] = _problem_content(int(status), documented)
        app.openapi_schema = schema
    return app.openapi_schema


def _problem_content(status: int, documented: dict[str, Any]) -> dict[str, Any]:
    schema = documented["content"]["application/json"]["schema"]
    text = documented["description"]
    example = {"type": "about:blank", "title": text, "status": status, "detail": text}
    return {"application/problem+json": {"schema": schema, "example": example}}
