"""Handle: the user's function runs within its time, and whatever it does becomes an outcome."""

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import monotonic
from types import FrameType

from minutehand.errors import KeyMissingError, MismatchError, PayloadError, UnknownKindError
from minutehand.handlers import Handlers
from minutehand.job import Job
from minutehand.model.outcome import (
    Cancel,
    Cancelled,
    Done,
    Error,
    Fail,
    Failed,
    Interrupted,
    Outcome,
    OutOfTime,
    Released,
    RetryAfter,
    Settled,
    Snooze,
    Snoozed,
)
from minutehand.model.payload import encode
from minutehand.model.redaction import redact
from minutehand.settings.table import REDACT_ERRORS

OWN_FILES = str(Path(__file__).parent)
MESSAGE_CHARACTERS = 1000
TRACE_CHARACTERS = 4000
SAID_BY_HANDLERS = (Snooze, Cancel, Fail, RetryAfter)
KNOWN = (*SAID_BY_HANDLERS, OutOfTime)
UNKNOWN_KIND_WAITS = (timedelta(seconds=30), timedelta(minutes=15))


def handle(job: Job, handlers: Handlers) -> Outcome:
    """Run the job's handler and return what came of it; only the worker's own interrupt comes through."""
    try:
        handler = handlers.find(job.kind)
        with _leaving_nothing_open(job), _within_time(job):
            result = handler(job)
    except (UnknownKindError, KeyMissingError) as error:
        return Released(_wait_for_deploy(job), describe(error))
    except Interrupted:
        raise
    except (
        BaseException
    ) as error:  # SystemExit, CancelledError, GeneratorExit: a handler's end is not its worker's
        return Settled() if job.settled else _so_far(_outcome_of(error), _carried(error, job))
    return Settled() if job.settled else _done(job.result if result is None else result)


def _outcome_of(error: BaseException) -> Outcome:
    match error:
        case Snooze():
            return Snoozed(error.delay)
        case Cancel():
            return Cancelled({"type": "Cancelled", "message": _message(error)})
        case MismatchError() | Fail():
            return Failed(_kept(error), final=True)
        case RetryAfter():
            return Failed(_kept(error), delay=error.delay)
        case _:
            return Failed(_kept(error))


def _carried(error: BaseException, job: Job) -> object:
    carried = error.result if isinstance(error, (Fail, RetryAfter)) else None
    return job.result if carried is None else carried


def _so_far(outcome: Outcome, result: object) -> Outcome:
    """Keep with a failure what the attempt had so far; a result that is not JSON hides no failure."""
    if result is None or not isinstance(outcome, (Failed, Cancelled)):
        return outcome
    try:
        return replace(outcome, result=encode(result))
    except PayloadError as error:
        message = f"{outcome.error['message']} (its result was not kept: {error})"
        return replace(outcome, error={**outcome.error, "message": message})


def _done(result: object) -> Outcome:
    """Keep the result; work that is done stays done even when its result is not JSON."""
    if result is None:
        return Done()
    try:
        return Done(encode(result))
    except PayloadError as error:
        return Done(error={"type": "ResultError", "message": f"the result was not kept: {error}"})


def _kept(error: BaseException) -> Error:
    """Return what the row keeps of an error: all of it; or with MINUTEHAND_REDACT_ERRORS only what was said on purpose.

    For the rest there is an id then, under which the log has the whole of it.
    """
    if not REDACT_ERRORS.read():
        return describe(error)
    visible = error if isinstance(error, KNOWN) else redact(error)
    return {name: text for name, text in describe(visible).items() if name != "trace"}


def describe(error: BaseException) -> Error:
    """Return an exception as the row keeps it: its type, message and the end of its trace, from the handler on."""
    frames = traceback.TracebackException.from_exception(error)
    frames.stack = traceback.StackSummary.from_list(
        [f for f in frames.stack if not f.filename.startswith(OWN_FILES)]
    )
    trace = "".join(frames.format())
    told = {
        "type": type(error).__name__,
        "message": _message(error),
        "trace": trace[-TRACE_CHARACTERS:],
    }
    return {name: _storable(text) for name, text in told.items()}


def _message(error: BaseException) -> str:
    try:
        return _storable(str(error)[:MESSAGE_CHARACTERS])
    except Exception as broken:
        return f"(its message cannot be had: {type(broken).__name__})"


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _wait_for_deploy(job: Job) -> timedelta:
    """Wait as long again as the job has waited already: its code is probably on its way."""
    shortest, longest = UNKNOWN_KIND_WAITS
    return min(max(job.lateness, shortest), longest)


@contextmanager
def _leaving_nothing_open(job: Job) -> Iterator[None]:
    """Drop a connection that is left in a transaction, where no outcome could be written, or was interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        job.database.close()
        raise
    finally:
        if job.database.in_transaction:
            job.database.close()


@contextmanager
def _within_time(job: Job) -> Iterator[None]:
    """Raise OutOfTime in the handler at the job's deadline, which `extend` may move meanwhile.

    By an alarm signal, which only a main thread gets; elsewhere the end of the lease has to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    rung: list[str] = []

    def ring(_signal: int, _frame: FrameType | None) -> None:
        if (left := job.deadline - monotonic()) > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
        else:
            rung.append("the attempt's time was up")
            raise OutOfTime(*rung)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(job.deadline - monotonic(), 0.001))
        yield
    except Exception as error:  # such as an interrupted statement leads to
        if rung and not isinstance(error, SAID_BY_HANDLERS):
            raise OutOfTime(*rung) from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
