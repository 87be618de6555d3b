"""Failure: an exception as a job's row stores it, in full or redacted."""

import logging
import traceback
from pathlib import Path
from uuid import uuid4

from minutehand.model.outcome import Cancel, Error, Fail, OutOfTime, RetryAfter, Snooze

LIBRARY = str(Path(__file__).parents[1])
TYPE_CHARACTERS = 200
MESSAGE_CHARACTERS = 1000
TRACE_CHARACTERS = 4000
# A message may be an exception's, followed by why its result was not stored or its recurrence ended.
LONGEST = {"message": 2 * MESSAGE_CHARACTERS, "trace": TRACE_CHARACTERS}
RAISED_ON_PURPOSE = (Snooze, Cancel, Fail, RetryAfter)
KNOWN = (*RAISED_ON_PURPOSE, OutOfTime)

logger = logging.getLogger(__name__)


class UnknownError(Exception):
    """Replaces an error whose details only the log has."""


def redact(error: BaseException) -> UnknownError:
    """Log an error under a new id, and return an error that contains only that id."""
    id = uuid4()
    logger.error("unknown error: %s", id, exc_info=error)
    return UnknownError(f"Unknown error: {id}")


def describe(error: BaseException) -> Error:
    """Return an exception's type and message, and the end of its trace from the handler on."""
    described = {
        "type": type(error).__name__[:TYPE_CHARACTERS],
        "message": message_of(error),
        "trace": _trace(error),
    }
    return {name: storable(text) for name, text in described.items()}


def bounded(error: Error | None) -> Error | None:
    """Return an error with texts that a row may store, wherever they come from."""
    if error is None:
        return None
    return {name: storable(text[: LONGEST.get(name, TYPE_CHARACTERS)]) for name, text in error.items()}


def result_error(reason: object) -> Error:
    """Return the error of a job that is done, but whose result was not stored."""
    return {"type": "ResultError", "message": f"the result was not stored: {reason}", "stage": "result"}


def message_of(error: BaseException) -> str:
    """Return an exception's message, shortened to what a row stores; `str` of a foreign exception may itself fail."""
    try:
        return storable(str(error)[:MESSAGE_CHARACTERS])
    except Exception as broken:
        return f"(no message: {type(broken).__name__})"


def _trace(error: BaseException) -> str:
    trace = traceback.TracebackException.from_exception(error)
    handler_frames = [frame for frame in trace.stack if not frame.filename.startswith(LIBRARY)]
    trace.stack = traceback.StackSummary.from_list(handler_frames)
    return "".join(trace.format())[-TRACE_CHARACTERS:]


def storable(text: str) -> str:
    """Replace what Postgres cannot store as text: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
