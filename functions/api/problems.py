"""Problems: every error a caller meets, as RFC 9457 problem details that say what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RouterError
from starlette.types import Scope

from answers import Json
from minutehand import (
    ConfigurationError,
    ConflictError,
    InvalidJobError,
    KeyTakenError,
    MinutehandError,
    NotFoundError,
    RunningError,
    SchemaError,
)
from minutehand.errors import ForbiddenError, ReadOnlyError, UnreachableError
from watch import logger, note

FAULTS_TOLD = 20
NAME_CHARACTERS = 100
RETRY_SECONDS = "5"


@dataclass(frozen=True)
class Kind:
    """A kind of problem; `says` stands in for the error's own sentence where that is nobody's business."""

    status: int
    name: str
    title: str
    says: str | None = None


KINDS: Mapping[type[MinutehandError], Kind] = {
    InvalidJobError: Kind(422, "invalid", "What was asked for breaks a rule"),
    KeyTakenError: Kind(409, "key-taken", "The key has an upcoming job"),
    NotFoundError: Kind(404, "no-such-job", "There is no such job"),
    RunningError: Kind(409, "refused", "The job is in no state for that"),
    ConflictError: Kind(
        503, "busy", "Others got in the way", "Concurrent changes got in each other's way; try again."
    ),
    ReadOnlyError: Kind(
        503, "unavailable", "The database is unavailable", "The database takes no writes now."
    ),
    UnreachableError: Kind(
        503, "unavailable", "The database is unavailable", "The database cannot be reached now."
    ),
    SchemaError: Kind(
        503, "unavailable", "The database is unavailable", "The database and this API do not fit together."
    ),
    ForbiddenError: Kind(
        403,
        "forbidden",
        "The API may not do that",
        "The role that the API has in the database may not do that; the API's log says what it lacks.",
    ),
    ConfigurationError: Kind(
        500, "internal", "The API is at fault", "A setting is missing or wrong; its log says which."
    ),
    MinutehandError: Kind(
        500, "internal", "The API is at fault", "Something went wrong; the API's log says what."
    ),
}
INTERNAL = KINDS[MinutehandError]
MALFORMED = Kind(422, "malformed", "The request is not of the expected form")


class ProblemError(HTTPException):
    """A problem of HTTP itself, raised where no library error fits."""

    def __init__(self, kind: Kind, detail: str, headers: dict[str, str] | None = None, **more: Any) -> None:
        """Carry what the problem says, and members of its own."""
        super().__init__(kind.status, detail, headers)
        self.kind = kind
        self.more = more


def describe(kind: Kind, detail: str | None, **more: Any) -> dict[str, Any]:
    """Return a problem's members; an error of the server says no more than its kind does."""
    return {
        "type": f"urn:minutehand:problem:{kind.name}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.says or detail,
        **{name: value for name, value in more.items() if value is not None},
    }


def describe_error(error: MinutehandError) -> dict[str, Any]:
    """Return a library error as a problem; `rule` names the rule that it breaks."""
    kind = next(KINDS[base] for base in type(error).__mro__ if base in KINDS)
    more = {"rule": error.rule} if isinstance(error, InvalidJobError) else {}
    return describe(kind, str(error), **more)


def describe_faults(faults: Sequence[Any]) -> dict[str, Any]:
    """Return pydantic's findings as a problem, without the values that were sent."""
    told = [_fault(fault) for fault in faults[:FAULTS_TOLD]]
    detail = f"{told[0].get('pointer') or told[0]['parameter']}: {told[0]['detail']}"
    return describe(MALFORMED, detail, errors=told)


def answer(problem: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Json:
    """Return the response that tells a problem."""
    status = problem["status"]
    wait = {"Retry-After": RETRY_SECONDS} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Json(problem, status, wait | dict(headers or {}), "application/problem+json")


def answer_error(scope: Scope, error: ProblemError) -> Json:
    """Return the response that tells a problem which was raised, or is as good as raised."""
    problem = describe(error.kind, error.detail, **error.more)
    note(scope, problem)
    return answer(problem, error.headers)


def tell_problems(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    app.add_exception_handler(MinutehandError, _tell_library_error)
    app.add_exception_handler(RequestValidationError, _tell_faults)
    app.add_exception_handler(RouterError, _tell_http_error)


def _tell_library_error(request: Request, error: Exception) -> Json:
    assert isinstance(error, MinutehandError)
    problem = describe_error(error)
    note(request.scope, problem)
    if problem["detail"] != str(error):  # what is nobody's business is the log's
        logger.error(str(error), extra={"error_type": type(error).__name__})
    return answer(problem)


def _tell_faults(request: Request, error: Exception) -> Json:
    assert isinstance(error, RequestValidationError)
    problem = describe_faults(error.errors())
    note(request.scope, problem)
    return answer(problem)


def _tell_http_error(request: Request, error: Exception) -> Json:
    assert isinstance(error, RouterError)
    if isinstance(error, ProblemError):
        return answer_error(request.scope, error)
    status = HTTPStatus(error.status_code)
    problem = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": status.description,
    }
    return answer(problem, error.headers)


def _fault(fault: Mapping[str, Any]) -> dict[str, str]:
    where, *path = [str(part)[:NAME_CHARACTERS] for part in fault["loc"]] or ["body"]
    detail = str(fault["msg"]).removeprefix("Value error, ")
    if where in ("query", "path"):
        return {"parameter": "/".join(path), "detail": detail}
    steps = (part.replace("~", "~0").replace("/", "~1") for part in path)
    return {"pointer": "#" + "".join(f"/{step}" for step in steps), "detail": detail}
