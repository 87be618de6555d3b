"""After: the jobs that must end before another one is due."""

from collections.abc import Iterable
from typing import Any, Literal, Protocol
from uuid import UUID

from minutehand.errors import InvalidJobError
from minutehand.model.option import typed
from minutehand.model.rules import sentence

AfterFailure = Literal["cancel", "run", "wait"]


class Identified(Protocol):
    """A job, its row, or the result of an enqueue."""

    @property
    def id(self) -> UUID:
        """The id of the job."""


After = UUID | Identified | Iterable[UUID | Identified]


def after_ids(jobs: Any, _name: str) -> str:
    """Return ids of jobs as an array of Postgres; accept jobs and the results of enqueues, too."""
    given = [jobs] if isinstance(jobs, UUID) or hasattr(jobs, "id") else typed(jobs, Iterable, "after_fits")
    if isinstance(given, str):
        raise InvalidJobError("after_fits", f"{sentence('after_fits')}, got str")
    ids = [typed(getattr(each, "id", each), UUID, "after_fits") for each in given]
    if None in ids:
        raise InvalidJobError("after_fits", f"{sentence('after_fits')}, got None")
    return "{" + ",".join(map(str, ids)) + "}"
