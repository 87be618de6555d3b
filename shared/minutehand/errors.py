"""The errors that minutehand raises. Each message says how to fix the problem; each class has a `type` for programs.

MinutehandError
├── InvalidJobError (ValueError)    the job breaks a rule; `rule` is its name, the same in SQL
│   ├── PayloadError                the payload is not JSON, is too large, or does not match its handler
│   └── UndeclaredKindError         no module in MINUTEHAND_HANDLERS has a handler for the kind
├── KeyTakenError                   the key has an upcoming job, and on_conflict is "raise"
├── NotFoundError                   there is no job with that id
├── RunningError                    the job is running, and cannot be changed
├── LostError                       the attempt no longer holds the job; the message has the cause
├── UnfinishedError (TimeoutError)  the wait for a job timed out
├── UnsuccessfulError               the job that was waited for is dead, expired or cancelled
├── UnknownKindError                there is no handler for the kind
├── InvalidHandlerError (TypeError) a handler cannot be called, or returned work that never runs
├── ConfigurationError              a setting is missing or invalid
├── ConnectionTypeError (TypeError) the connection is of a type that cannot be used
├── MismatchError                   the payload does not match the handler's type
│   └── DecryptionError             an encrypted payload was modified, or belongs to another job
├── KeyMissingError                 the encryption key is not available; the job waits for it
├── EventsRefusedError              a sink refused events; logged, never raised to a caller
├── InvocationError                 Lambda refused to invoke a worker, or does not answer
├── WakeupError                     a wake-up was not created; logged, never raised to a caller
└── DatabaseError
    ├── UnreachableError            no connection, or it broke
    ├── ReadOnlyError               the server is a replica, or the database is read-only
    ├── ForbiddenError              the database role lacks a privilege
    ├── ConflictError               concurrent transactions conflicted: run yours again
    ├── BusyError                   the server gave up: a time limit, a lock, memory or disk
    └── SchemaError                 the schema is missing or older than this code
        └── NewerSchemaError        the schema is newer than this code, as after a rollback of the code
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar


class MinutehandError(Exception):
    """The base class of all errors. `type` identifies the error for programs: `key_taken` for KeyTakenError."""

    type: ClassVar[str] = "minutehand"

    def __init_subclass__(cls, **options: Any) -> None:
        """Derive the type from the class's name."""
        super().__init_subclass__(**options)
        cls.type = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()


class InvalidJobError(MinutehandError, ValueError):
    """The job breaks a rule; `rule` is the rule's name, the same in SQL."""

    def __init__(self, rule: str, message: str) -> None:
        """Store the rule's name with the message."""
        super().__init__(message)
        self.rule = rule


class PayloadError(InvalidJobError):
    """The payload is not JSON, larger than the database allows, or does not match the handler's arguments."""


class UndeclaredKindError(InvalidJobError):
    """No module in MINUTEHAND_HANDLERS has a handler for the kind; `closest` is the most similar kind, or None."""

    def __init__(self, kind: str, closest: str | None, modules: Sequence[str]) -> None:
        """Store the kinds with the message, which names the modules that were searched."""
        hint = (
            f"did you mean {closest!r}?"
            if closest
            else "declare it there with @job, or add its module to MINUTEHAND_HANDLERS "
            "(HandlerModules in template.yaml)."
        )
        super().__init__(
            "kind_has_a_handler",
            f"kind {kind!r} has no handler in {', '.join(modules)}; {hint} "
            "If another worker runs it, add it to MINUTEHAND_OTHER_KINDS.",
        )
        self.kind, self.closest = kind, closest


class KeyTakenError(MinutehandError):
    """The key has an upcoming job, and `on_conflict` is "raise"."""


class NotFoundError(MinutehandError):
    """There is no job with that id."""


class RunningError(MinutehandError):
    """The job is running, and cannot be changed."""


class LostError(MinutehandError):
    """Another worker has the job, its lease ended while limits are set, or an earlier transaction() completed it."""


class UnfinishedError(MinutehandError, TimeoutError):
    """The wait for a job timed out; `state` is the job's state."""

    def __init__(self, job_id: object, state: str, waited: timedelta) -> None:
        """Store the state with the message."""
        seconds = waited.total_seconds()
        super().__init__(f"job {job_id} is still {state} after {seconds:g} s; wait longer or try again later")
        self.state = state


class UnsuccessfulError(MinutehandError):
    """The job that was waited for is dead, expired or cancelled; `state` says which, `error` is what it stored."""

    def __init__(self, job_id: object, state: str, error: Mapping[str, str] | None) -> None:
        """Store the state and the error with the message."""
        reason = f": {error.get('type')}: {error.get('message')}" if error else ""
        super().__init__(f"job {job_id} is {state}{reason}")
        self.state, self.error = state, error


class UnknownKindError(MinutehandError):
    """There is no handler for the kind."""


class InvalidHandlerError(MinutehandError, TypeError):
    """A handler or its middleware cannot be called, or it returned work that never runs."""


class ConfigurationError(MinutehandError):
    """A setting is missing or invalid."""


class ConnectionTypeError(MinutehandError, TypeError):
    """The connection is of a type that cannot be used. The message never contains its value."""

    def __init__(self, given: type, remedy: str = "") -> None:
        """Explain what to pass instead of an object of this type."""
        if given is str:
            remedy = "for a URL, pass minutehand.Database(url)"
        expected = (
            "connection must be a connection of psycopg, psycopg2, asyncpg, SQLAlchemy or Django, a Session or "
            "AsyncSession, a minutehand.Database or AsyncDatabase, or None"
        )
        super().__init__(f"{expected}, got {given.__name__}{remedy and f'; {remedy}'}")


class MismatchError(MinutehandError):
    """The payload does not match the type in the handler's signature."""


class DecryptionError(MismatchError):
    """An encrypted value was modified or belongs to another job, or a value should be encrypted and is not."""


class KeyMissingError(MinutehandError):
    """The encryption key is not available to this process."""


class EventsRefusedError(MinutehandError):
    """A sink answered that it did not accept the events."""


class InvocationError(MinutehandError):
    """Lambda refused to invoke a worker, or does not answer. The job's offer is withdrawn; a later tick repeats it."""


class WakeupError(MinutehandError):
    """EventBridge Scheduler refused a wake-up, or does not answer. The next wake-up or sweep finds the jobs."""


class DatabaseError(MinutehandError):
    """Postgres refused a statement, or could not be reached."""


class UnreachableError(DatabaseError):
    """There is no connection to Postgres, or it broke."""


class ReadOnlyError(DatabaseError):
    """The server accepts no writes: it is a replica, or the database is read-only.

    A failover can turn the server into a replica, so the next statement connects again.
    """


class ForbiddenError(DatabaseError):
    """The database role lacks a privilege."""


class ConflictError(DatabaseError):
    """Concurrent transactions conflicted. Run the whole transaction again."""


class BusyError(DatabaseError):
    """The server gave up on a statement: it reached a time limit, waited for a lock, or lacks memory or disk space."""


class SchemaError(DatabaseError):
    """The schema is missing, or does not match this code."""


class NewerSchemaError(SchemaError):
    """The schema is newer than this code, as after a rollback of the code."""


# They may pass without a change of the program, the job or the settings. A resident worker tries again later.
PASSING = (UnreachableError, ReadOnlyError, ConflictError, BusyError)
