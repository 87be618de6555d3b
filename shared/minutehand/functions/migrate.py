"""The migrate function: migrate the schema at each deploy, then tell CloudFormation whether the deploy may continue.

The rest of the library is imported during the event: an import that fails is answered like any other error, while
CloudFormation would wait for a function that does not answer.
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

# Seconds of the function's time reserved for the response.
RESPONSE_SECONDS = 30.0
REQUEST_SECONDS = 3.0
# Seconds to wait after each failed response. With all requests they must take less than RESPONSE_SECONDS.
PAUSES = (0.2, 0.5, 1.0, 2.0, 0.0)
# Must never change: for a new id CloudFormation would delete the old resource.
RESOURCE = "minutehand-schema"
# CloudFormation shows the first few hundred characters.
REASON_CHARACTERS = 1000

REMEDIES = {
    "UnreachableError": "check the host in the secret, and that the subnets and security groups can reach it",
    "ForbiddenError": "the secret's role must own the schema minutehand, or be allowed to create it in the database",
    "ReadOnlyError": "name the writer, not a replica",
}


class OutOfTime(KeyboardInterrupt):
    """The time limit is over. A KeyboardInterrupt, because the driver then cancels the running statement."""


class UnknownRequest(Exception):
    """CloudFormation sent an unknown request type."""


@dataclass(frozen=True)
class Response:
    """The response to CloudFormation."""

    status: str
    reason: str


def handler(event: dict[str, Any], context: Any) -> None:
    """Perform a request for the resource `Migration`, and always respond to it."""
    event = event if isinstance(event, dict) else {}
    response = attempt(event, context.get_remaining_time_in_millis() / 1000 - RESPONSE_SECONDS)
    logger.log(logging.INFO if response.status == "SUCCESS" else logging.ERROR, response.reason)
    send(event, response)


def attempt(event: dict[str, Any], seconds: float) -> Response:
    """Perform the request within a time limit; an error becomes a reason that says what to do."""
    try:
        with time_limit(seconds):
            return Response("SUCCESS", perform(event))
    except OutOfTime:
        return failure(
            "the migration took too long; check whether a transaction holds locks in the schema minutehand"
        )
    except Exception as error:
        # Only our own messages are shown: others may quote secrets.
        if not _is_own_error(error):
            logger.error("".join(traceback.format_tb(error.__traceback__)))
            return failure(f"an unexpected {type(error).__name__}; see the function's log")
        remedies = [REMEDIES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in REMEDIES]
        return failure("; ".join([str(error), *remedies]))


def failure(reason: str) -> Response:
    """Return the response for a migration that was not applied."""
    return Response(
        "FAILED", f"minutehand's schema was not migrated: {reason}; then deploy again"[:REASON_CHARACTERS]
    )


def perform(event: dict[str, Any]) -> str:
    """Migrate when the stack is created or updated, and return a summary; deleting the stack keeps all data."""
    match event.get("RequestType"):
        case "Create":
            return migrate_schema()
        case "Update":
            return migrate_schema(allow_newer=True)
        case "Delete":
            return "the schema and its jobs remain in the database"
        case other:
            raise UnknownRequest(f"RequestType must be Create, Update or Delete, got {other!r}")


def migrate_schema(*, allow_newer: bool = False) -> str:
    """Apply the missing migrations.

    A rollback finds a schema that is newer than its code, because migrations only go forward. The release before a
    migration works with it, so `allow_newer` keeps such a schema.
    """
    from minutehand.database import Database
    from minutehand.errors import NewerSchemaError
    from minutehand.schema.migrate import migrate
    from minutehand.settings import database_url

    try:
        with closing(Database(database_url)) as database:
            applied = [step.label for step in migrate(database)]
    except NewerSchemaError as error:
        if not allow_newer:
            raise
        return f"schema left unchanged: {error}"
    return f"applied {', '.join(applied)}" if applied else "the schema is up to date"


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in a block that takes longer."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    try:
        # Again each second: Python discards what is raised while an object is freed.
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 1)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def send(event: dict[str, Any], response: Response) -> None:
    """Send the response to CloudFormation. The URL is secret, so no error of the request is shown."""
    if not event.get("ResponseURL"):
        logger.error("the event has no ResponseURL: there is nothing to answer")
        return
    ids = {name: event.get(name, "unknown") for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = json.dumps(
        ids | {"Status": response.status, "Reason": response.reason, "PhysicalResourceId": RESOURCE}
    )
    for pause in PAUSES:
        try:
            # The URL is signed for a request without a content type.
            request = Request(event["ResponseURL"], body.encode(), {"Content-Type": ""}, method="PUT")
            with urlopen(request, timeout=REQUEST_SECONDS):
                return
        except Exception as error:
            logger.warning(f"the answer to CloudFormation failed: {type(error).__name__}")
        sleep(pause)
    logger.error("CloudFormation was not answered; check whether the function's subnets can reach S3")


def _is_own_error(error: Exception) -> bool:
    return any(kind.__module__ in ("minutehand.errors", __name__) for kind in type(error).__mro__)
