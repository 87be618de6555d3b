"""The result of an enqueue, for each job."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal
from uuid import UUID

from minutehand.errors import MinutehandError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result = TypeVar("Result", default=Any, covariant=True)
else:
    # Python has defaults of type variables since 3.13, and only type checkers need this one.
    from typing import TypeVar

    Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True)
class Enqueued(Generic[Result]):
    """An enqueued job: `created`, or `replaced`, `merged` or `ignored` because its key had an upcoming job.

    `id` is the job that holds the key, and `visible` the time from which it may run. If that job has finished and only
    reserves the key, `visible` is the time at which the key becomes free. `ordinal` is the position in a bulk, from 0.
    `result_type` is the return annotation of a decorated function, as which `wait` returns the result.
    """

    id: UUID
    outcome: Literal["created", "replaced", "merged", "ignored"]
    visible: datetime
    ordinal: int = 0
    result_type: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def of_created(cls, job_id: UUID, visible: datetime, ordinal: int) -> "Enqueued[Any]":
        """Return the result of a new job of a bulk, in half of the time of `Enqueued(...)`."""
        made = object.__new__(cls)
        vars(made).update(id=job_id, outcome="created", visible=visible, ordinal=ordinal)
        return made


@dataclass(frozen=True)
class Rejected:
    """A rejected job of a bulk; the other jobs are still enqueued."""

    error: MinutehandError
    ordinal: int
    outcome: Literal["rejected"] = "rejected"
