"""Every error that minutehand raises, each with a sentence that says what to do, and a `type` for programs.

MinutehandError
├── InvalidJobError (ValueError)    what was asked for cannot be a job; `rule` names the rule it breaks
│   └── PayloadError                the payload is not JSON, or too large
├── KeyTakenError                   on_conflict="raise", and the key has an upcoming job
├── NotFoundError                   there is no job with that id
├── RunningError                    a running job is not touched
├── LostError                       the claim is another worker's by now
├── UnfinishedError (TimeoutError)  the wait for a job is over, and it is not finished
├── UnknownKindError                no handler file bears the kind's name
├── ConfigurationError              a setting is missing or wrong
├── MismatchError                   the payload is not of the type that its handler asks for
│   └── DecryptionError             an encrypted payload was changed, or is another job's
├── KeyMissingError                 an encrypted payload's key is not here; the job waits for it
├── EventsRefusedError              a sink did not take events; it is logged, and raised to nobody
└── DatabaseError
    ├── UnreachableError            no connection, or it broke
    ├── ReadOnlyError               a replica, or a database set to read only
    ├── ForbiddenError              the role may not do this
    ├── ConflictError               concurrent transactions got in each other's way: run yours again
    └── SchemaError                 the schema is missing or older than this code
        └── NewerSchemaError        the schema is newer, as after a rollback of the code
"""

import re
from datetime import timedelta
from typing import Any, ClassVar


class MinutehandError(Exception):
    """The root of the tree; `type` is what a program tells errors apart by: `KeyTakenError` is of type `key_taken`."""

    type: ClassVar[str] = "minutehand"

    def __init_subclass__(cls, **options: Any) -> None:
        """Derive the type from the class's name."""
        super().__init_subclass__(**options)
        cls.type = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()


class InvalidJobError(MinutehandError, ValueError):
    """What was asked for cannot be a job; `rule` is the name of the rule it breaks, the same in SQL."""

    def __init__(self, rule: str, sentence: str) -> None:
        """Carry the rule's name beside its sentence."""
        super().__init__(sentence)
        self.rule = rule


class PayloadError(InvalidJobError):
    """The payload is not JSON, or larger than the database allows."""


class KeyTakenError(MinutehandError):
    """The key has an upcoming job already, and the enqueuer asked to be told."""


class NotFoundError(MinutehandError):
    """There is no job with that id."""


class RunningError(MinutehandError):
    """A running job is not touched."""


class LostError(MinutehandError):
    """The claim is another worker's by now: whatever this one still does, the queue will not take it."""


class UnfinishedError(MinutehandError, TimeoutError):
    """The wait for a job is over, and it is not finished; `state` is what it is in."""

    def __init__(self, job_id: object, state: str, waited: timedelta) -> None:
        """Carry the state beside the sentence."""
        super().__init__(
            f"job {job_id} is {state} after {waited.total_seconds():g} s; wait longer, or look again"
        )
        self.state = state


class UnknownKindError(MinutehandError):
    """No handler file bears the kind's name."""


class ConfigurationError(MinutehandError):
    """A setting is missing or wrong."""


class MismatchError(MinutehandError):
    """The payload is not of the type that the handler's signature asks for."""


class DecryptionError(MismatchError):
    """What is encrypted was changed, or is not this job's, or had to be encrypted and is not."""


class KeyMissingError(MinutehandError):
    """The key of what is encrypted is not at hand."""


class EventsRefusedError(MinutehandError):
    """A sink of events answered, and did not take them."""


class DatabaseError(MinutehandError):
    """Postgres refused, or could not be asked."""


class UnreachableError(DatabaseError):
    """There is no connection to Postgres, or it broke."""


class ReadOnlyError(DatabaseError):
    """The server takes no writes: a replica, or a database set to read only."""


class ForbiddenError(DatabaseError):
    """The database role lacks a privilege."""


class ConflictError(DatabaseError):
    """Concurrent transactions got in each other's way; the whole transaction can be run again."""


class SchemaError(DatabaseError):
    """The schema is missing, older or newer than this code."""


class NewerSchemaError(SchemaError):
    """The schema is newer than this code, as after a rollback of the code."""
