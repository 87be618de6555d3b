"""Handle: run the user's function within its time, and turn the result or error into an outcome."""

import logging
from contextvars import Context, copy_context
from dataclasses import replace
from datetime import timedelta

from minutehand.attempts.time_limit import time_limit
from minutehand.calling.results import finished_result
from minutehand.claimed_job import AsyncJob, Job
from minutehand.errors import KeyMissingError, MismatchError, PayloadError, UnknownKindError
from minutehand.handlers import Handler, Handlers
from minutehand.model.failure import KNOWN, describe, message_of, redact, result_error
from minutehand.model.outcome import (
    DONE,
    Cancel,
    Cancelled,
    Done,
    DroppedResult,
    Error,
    Fail,
    Failed,
    Finish,
    Interrupted,
    Outcome,
    Released,
    RetryAfter,
    Settled,
    Snooze,
    Snoozed,
)
from minutehand.model.payload import encode
from minutehand.settings.table import REDACT_ERRORS

SHORTEST_DEPLOY_WAIT, LONGEST_DEPLOY_WAIT = timedelta(seconds=30), timedelta(minutes=15)

logger = logging.getLogger(__name__)


def handle(job: Job, handlers: Handlers, context: Context | None = None) -> Outcome:
    """Run the job's handler and return the outcome. Only Interrupted, raised by the worker itself, passes through.

    `context` is that of this attempt alone; by default it is a copy of the current one.
    """
    # Context variables that a handler sets are those of this attempt.
    variables = copy_context() if context is None else context
    try:
        with time_limit(job.lease):
            result = variables.run(_result, job, handlers.find(job.kind))
    except BaseException as error:
        _close_open_transaction(job, error)
        if isinstance(error, Interrupted):
            raise
        # SystemExit, CancelledError and GeneratorExit included: they end the handler, not the worker. What is logged
        # has the job's trace.
        return variables.run(failed, job, error)
    if job.lease.database.in_transaction:
        _close_open_transaction(job)
    return DONE if result is None and job.finished is None else returned(job, result)


def _result(job: Job, handler: Handler) -> object:
    result = handler(job)
    return result if job.result is None else result_of(job, result)


def result_of(job: Job, result: object) -> object:
    """Return what the handler returned, or if that is nothing, the job's result."""
    return finished_result(job.result) if result is None and job.result is not None else result


def returned(job: Job, result: object) -> Outcome:
    """Return the outcome of a handler that returned a result."""
    return _returned_after(job.finished, result) if job.finished else _done(result)


def failed(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a handler that raised an error."""
    if job.finished:
        return _failed_after(job.finished, error)
    try:
        return _failed(error, job)
    # A subclass of our exceptions that does not call __init__ may lack their attributes.
    except Exception as fault:
        return Failed(_stored(fault))


def _returned_after(finish: Finish, result: object) -> Outcome:
    """Add the result to a job that its transaction has completed. A result that is stored already is not replaced."""
    if finish.error and finish.error.get("stage") == "result":
        # The transaction has recorded that the result was dropped.
        return Settled(finish)
    done = _done(result)
    if done.error or done.result in (None, finish.result):
        return Settled(finish, error=done.error)
    if finish.result is not None:
        return Settled(finish, error=result_error("the transaction has stored another one"))
    return Settled(finish, done.result)


def _failed_after(finish: Finish, error: BaseException) -> Outcome:
    """Record the error of a handler whose transaction has completed the job; no other attempt follows."""
    if not REDACT_ERRORS.read():
        logger.error("a handler failed after its transaction had completed the job", exc_info=error)
    return Settled(finish, error={**_stored(error), "stage": "after"})


def _failed(error: BaseException, job: Job) -> Outcome:
    if isinstance(error, (UnknownKindError, KeyMissingError)):
        return Released(_wait_for_deploy(job), describe(error))
    result = error.result if isinstance(error, (Fail, RetryAfter)) else None
    return _with_result(_outcome_of(error), job.result if result is None else result)


def _outcome_of(error: BaseException) -> Outcome:
    match error:
        case Snooze():
            if not isinstance(error.delay, timedelta):
                raise TypeError(f"delay must be a timedelta, got {error.delay!r}")
            return Snoozed(error.delay)
        case Cancel():
            return Cancelled({"type": "Cancelled", "message": message_of(error)})
        case MismatchError() | Fail():
            return Failed(_stored(error), final=True)
        case RetryAfter():
            return Failed(_stored(error), delay=error.delay, hold=error.delay)
        case _:
            return Failed(_stored(error))


def _stored(error: BaseException) -> Error:
    """Return what the row stores of an error: all of it, or with MINUTEHAND_REDACT_ERRORS only its log id.

    Errors that a handler raises on purpose keep their type and message, without the trace.
    """
    if not REDACT_ERRORS.read():
        return describe(error)
    visible = error if isinstance(error, KNOWN) else redact(error)
    return {name: text for name, text in describe(visible).items() if name != "trace"}


def _with_result(outcome: Outcome, result: object) -> Outcome:
    """Store the progress so far with a failure; a result that is not JSON must not hide the failure."""
    if result is None or not isinstance(outcome, (Failed, Cancelled)):
        return outcome
    try:
        return replace(outcome, result=encode(result, "result"))
    except PayloadError as error:
        message = f"{outcome.error['message']} (the result was not stored: {error})"
        return replace(outcome, error={**outcome.error, "message": message})


def _done(result: object) -> Done:
    """Store the result. If it is not JSON, the job is still done, with an error that explains it."""
    if result is None:
        return DONE
    if isinstance(result, DroppedResult):
        return Done(error=result_error(result.reason))
    try:
        return Done(encode(result, "result"))
    except PayloadError as error:
        return Done(error=result_error(error))


def _wait_for_deploy(job: Job) -> timedelta:
    """Double the time that the job has waited: the code for its kind is probably being deployed."""
    return min(max(job.lateness, SHORTEST_DEPLOY_WAIT), LONGEST_DEPLOY_WAIT)


def _close_open_transaction(job: Job, error: BaseException | None = None) -> None:
    """Close a connection that the handler left in a transaction or that was interrupted: it cannot take an outcome."""
    if isinstance(error, KeyboardInterrupt) or job.database.in_transaction:
        # The second connection of a job that is not async may be writing a group.
        if isinstance(job, AsyncJob):
            job.database.close()
        else:
            job.database.disconnect()
