"""Filter: which jobs a request concerns, in listings, counts and changes of all that match."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from minutehand.functions.api.schemas.common import StrictModel, Time
from minutehand.model.row import State
from minutehand.queries.search import JobSearch

Text = Annotated[str, Field(max_length=1024, pattern=r"^[^\x00]*$")]
PAIR = "^[^=\x00]+=[^\x00]*$"


class SearchFilter(StrictModel):
    """The jobs to find: those that match all that is set."""

    queue: Text | None = Field(None, description="jobs of this queue")
    kind: Text | None = Field(None, description="jobs of this kind")
    key: Text | None = Field(None, description="jobs with this key")
    key_prefix: Text | None = Field(None, description="jobs whose key begins with this")
    group: Text | None = Field(None, description="jobs of this group")
    tenant: Text | None = Field(None, description="jobs of this tenant")
    schedule: Text | None = Field(None, description="jobs that this schedule fired")
    batch: UUID | None = Field(None, description="jobs of this batch")
    priority: int | None = Field(None, ge=0, le=9, description="jobs of this priority")
    version: Text | None = Field(None, description="jobs finished by this version of the code")
    error: Text | None = Field(None, description="jobs with this type of error")
    cause: Text | None = Field(None, description="jobs with this cause of failure, of GET /failures")
    header: list[Annotated[str, Field(pattern=PAIR, max_length=8192)]] = Field(
        [], description="jobs with this header, as `name=value`"
    )
    payload: list[Annotated[str, Field(pattern=PAIR, max_length=1024)]] = Field(
        [], max_length=5, description="jobs with this value in their payload, as `path.to.value=text`"
    )
    state: list[State] = Field([], description="jobs in one of these states")
    result_dropped: bool = Field(False, description="done jobs whose result could not be stored")
    since: Time = Field(None, description="jobs enqueued at or after this time")
    until: Time = Field(None, description="jobs enqueued before this time")
    finished_since: Time = Field(None, description="jobs finished at or after this time")
    finished_until: Time = Field(None, description="jobs finished before this time")

    def to_search(self) -> JobSearch:
        """Return the library's search."""
        values = {name: getattr(self, name) for name in SearchFilter.model_fields}
        values["states"] = values.pop("state")
        values["headers"] = dict(text.split("=", 1) for text in values.pop("header")) or None
        values["payload"] = dict(text.split("=", 1) for text in values["payload"])
        return JobSearch(**values)
