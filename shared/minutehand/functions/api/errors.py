"""Errors as RFC 9457 problem details that say how to fix the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RouterError
from starlette.types import Scope

from minutehand.errors import (
    BusyError,
    ConfigurationError,
    ConflictError,
    ForbiddenError,
    InvalidJobError,
    KeyTakenError,
    MinutehandError,
    NotFoundError,
    ReadOnlyError,
    RunningError,
    SchemaError,
    UnreachableError,
)
from minutehand.functions.api.request_log import logger, note_problem
from minutehand.functions.api.responses import Json

FAULT_LIMIT = 20
NAME_CHARACTERS = 100
RETRY_SECONDS = "5"


@dataclass(frozen=True)
class ProblemType:
    """A type of problem; `detail` replaces the error's message if that must not be shown to callers."""

    status: int
    name: str
    title: str
    detail: str | None = None


def _unavailable(detail: str) -> ProblemType:
    return ProblemType(503, "unavailable", "The database is unavailable", detail)


def _internal(detail: str) -> ProblemType:
    return ProblemType(500, "internal", "Internal error", detail)


INTERNAL = _internal("Something went wrong; see the API's log.")
REFUSED = ProblemType(409, "refused", "The job's state does not allow this")
MALFORMED = ProblemType(422, "malformed", "The request is malformed")
TYPES: Mapping[type[MinutehandError], ProblemType] = {
    InvalidJobError: ProblemType(422, "invalid", "The request breaks a rule"),
    KeyTakenError: ProblemType(409, "key-taken", "The key already has an upcoming job"),
    NotFoundError: ProblemType(404, "no-such-job", "The job does not exist"),
    RunningError: REFUSED,
    ConflictError: ProblemType(
        503, "busy", "Concurrent changes conflicted", "Concurrent changes conflicted; try again."
    ),
    BusyError: _unavailable("The database is too busy now."),
    ReadOnlyError: _unavailable("The database accepts no writes now."),
    UnreachableError: _unavailable("The database cannot be reached now."),
    SchemaError: _unavailable("The database schema and the API do not match; see the API's log."),
    ForbiddenError: ProblemType(
        403,
        "forbidden",
        "The API's database role lacks a privilege",
        "The API's database role lacks a privilege, as minutehand_reader does for changes; see the API's log.",
    ),
    ConfigurationError: _internal("A setting is missing or invalid; see the API's log."),
    MinutehandError: INTERNAL,
}


class ApiError(HTTPException):
    """An error of the request that no error of the library describes."""

    def __init__(
        self, type: ProblemType, detail: str, headers: dict[str, str] | None = None, **members: Any
    ) -> None:
        """Store the problem and its additional members."""
        super().__init__(type.status, detail, headers)
        self.type = type
        self.members = members


def problem(type: ProblemType, detail: str | None, **members: Any) -> dict[str, Any]:
    """Return the members of a problem."""
    return {
        "type": f"urn:minutehand:problem:{type.name}",
        "title": type.title,
        "status": type.status,
        "detail": type.detail or detail,
        **{name: value for name, value in members.items() if value is not None},
    }


def library_problem(error: MinutehandError) -> dict[str, Any]:
    """Return a library error as a problem; `rule` names the rule that the request breaks."""
    problem_type = next(TYPES[base] for base in type(error).__mro__ if base in TYPES)
    members = {"rule": error.rule} if isinstance(error, InvalidJobError) else {}
    return problem(problem_type, str(error), **members)


def validation_problem(faults: Sequence[Any]) -> dict[str, Any]:
    """Return pydantic's findings as a problem, without the values of the request."""
    errors = [_fault(fault) for fault in faults[:FAULT_LIMIT]]
    detail = f"{errors[0].get('pointer') or errors[0]['parameter']}: {errors[0]['detail']}"
    return problem(MALFORMED, detail, errors=errors)


def problem_response(problem: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Json:
    """Return the response for a problem."""
    status = problem["status"]
    wait = {"Retry-After": RETRY_SECONDS} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Json(problem, status, wait | dict(headers or {}), "application/problem+json")


def error_response(scope: Scope, error: ApiError) -> Json:
    """Log an ApiError with its request, and return its response."""
    found = problem(error.type, error.detail, **error.members)
    note_problem(scope, found)
    return problem_response(found, error.headers)


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    app.add_exception_handler(MinutehandError, _on_library_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(RouterError, _on_http_error)


def _on_library_error(request: Request, error: Exception) -> Json:
    assert isinstance(error, MinutehandError)
    found = library_problem(error)
    note_problem(request.scope, found)
    # A message that callers must not see goes to the log.
    if found["detail"] != str(error):
        logger.error(str(error), extra={"error_type": type(error).__name__})
    return problem_response(found)


def _on_validation_error(request: Request, error: Exception) -> Json:
    assert isinstance(error, RequestValidationError)
    found = validation_problem(error.errors())
    note_problem(request.scope, found)
    return problem_response(found)


def _on_http_error(request: Request, error: Exception) -> Json:
    assert isinstance(error, RouterError)
    if isinstance(error, ApiError):
        return error_response(request.scope, error)
    status = HTTPStatus(error.status_code)
    found = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": status.description,
    }
    return problem_response(found, error.headers)


def _fault(fault: Mapping[str, Any]) -> dict[str, str]:
    where, *path = [str(part)[:NAME_CHARACTERS] for part in fault["loc"]] or ["body"]
    detail = str(fault["msg"]).removeprefix("Value error, ")
    if where in ("query", "path"):
        return {"parameter": "/".join(path), "detail": detail}
    steps = (part.replace("~", "~0").replace("/", "~1") for part in path)
    return {"pointer": "#" + "".join(f"/{step}" for step in steps), "detail": detail}
