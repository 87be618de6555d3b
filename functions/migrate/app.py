"""Migrate: at each deploy it brings the schema up, and tells CloudFormation whether the deploy may go on.

What it needs of the layers is imported late, so that it answers even where they are broken: CloudFormation waits for
whoever says nothing.
"""

import json
import logging
import signal
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import sleep
from types import FrameType
from typing import Any
from urllib.request import Request, urlopen

logger = logging.getLogger("migrate")
logger.setLevel(logging.INFO)

TO_ANSWER = 30.0  # seconds of the function's time
PATIENCE = 3.0  # seconds for an answer to be taken
PAUSES = (0.2, 0.5, 1.0, 2.0, 0.0)  # after each failed one; with all their patience less than TO_ANSWER
RESOURCE = "minutehand-schema"  # the same for ever: a new one would have CloudFormation delete the old
LONGEST = 1000  # characters of a reason, of which CloudFormation shows the first few hundred

REMEDIES = {
    "UnreachableError": "see whether the secret names the right host, and the subnets and security groups lead to it",
    "ForbiddenError": "the secret's role must own the schema minutehand, or be allowed to create it in the database",
    "ReadOnlyError": "name the writer, not a replica",
}


class OutOfTime(KeyboardInterrupt):  # at which the driver cancels the statement that it waits for
    """The function's own end is near."""


class UnknownRequest(Exception):
    """CloudFormation asks for something that it is not known to ask for."""


@dataclass(frozen=True)
class Outcome:
    """What CloudFormation is told."""

    status: str
    reason: str


def handler(event: dict[str, Any], context: Any) -> None:
    """Do what CloudFormation asks of the resource `Migration`, and answer it whatever happens."""
    event = event if isinstance(event, dict) else {}
    outcome = attempt(event, context.get_remaining_time_in_millis() / 1000 - TO_ANSWER)
    logger.log(logging.INFO if outcome.status == "SUCCESS" else logging.ERROR, outcome.reason)
    answer(event, outcome)


def attempt(event: dict[str, Any], seconds: float) -> Outcome:
    """Do it within so many seconds; what fails becomes a reason that says what to do."""
    try:
        with time_limit(seconds):
            return Outcome("SUCCESS", perform(event))
    except OutOfTime:
        return failure(
            "the migration took too long; see whether a transaction holds locks in the schema minutehand"
        )
    except Exception as error:
        # Its message is only shown where it is our own: others may quote what is secret.
        if not _is_ours(error):
            logger.error("".join(traceback.format_tb(error.__traceback__)))
            return failure(f"an unexpected {type(error).__name__}; the function's log says where")
        remedies = [REMEDIES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in REMEDIES]
        return failure("; ".join([str(error), *remedies]))


def failure(reason: str) -> Outcome:
    """Say that the schema is as it was, and why."""
    return Outcome("FAILED", f"minutehand's schema was not migrated: {reason}; then deploy again"[:LONGEST])


def perform(event: dict[str, Any]) -> str:
    """Migrate when the stack is made or changed, and say what was done; a stack that goes leaves all data."""
    match event.get("RequestType"):
        case "Create":
            return bring_up()
        case "Update":
            return bring_up(or_leave_newer=True)
        case "Delete":
            return "the schema and its jobs stay in the database"
        case other:
            raise UnknownRequest(
                f"CloudFormation is known to ask for Create, Update or Delete, not for {other!r}"
            )


def bring_up(*, or_leave_newer: bool = False) -> str:
    """Apply what is new.

    A rollback finds a schema that is newer than this code, since migrations only go forward; the release before a
    migration works with it.
    """
    from minutehand.database import Database
    from minutehand.errors import NewerSchemaError
    from minutehand.schema.migrate import migrate
    from minutehand.settings import database_url

    try:
        with closing(Database(database_url)) as database:
            applied = [step.label for step in migrate(database)]
    except NewerSchemaError as error:
        if not or_leave_newer:
            raise
        return f"left as it is: {error}"
    return f"applied {', '.join(applied)}" if applied else "the schema is up to date"


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block that takes longer."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(event: dict[str, Any], outcome: Outcome) -> None:
    """Put the outcome where CloudFormation looks for it; the address is secret, so no error of it is shown."""
    if not event.get("ResponseURL"):
        logger.error("the event has no ResponseURL: nobody waits for an answer")
        return
    told = {name: event.get(name, "unknown") for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = json.dumps(
        told | {"Status": outcome.status, "Reason": outcome.reason, "PhysicalResourceId": RESOURCE}
    )
    for pause in PAUSES:
        try:
            # The address is signed for a request without a type.
            request = Request(event["ResponseURL"], body.encode(), {"Content-Type": ""}, method="PUT")
            with urlopen(request, timeout=PATIENCE):
                return
        except Exception as error:
            logger.warning(f"CloudFormation could not be answered: {type(error).__name__}")
        sleep(pause)
    logger.error("CloudFormation was not answered; see whether the function's subnets have a way to S3")


def _is_ours(error: Exception) -> bool:
    return any(kind.__module__ in ("minutehand.errors", __name__) for kind in type(error).__mro__)
