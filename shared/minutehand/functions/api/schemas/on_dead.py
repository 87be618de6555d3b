"""On dead: the job to create if another one dies."""

from typing import Any, Protocol

from pydantic import Field, StrictInt

from minutehand.functions.api.schemas.common import Duration, RetryOptions, StrictModel
from minutehand.model.new_job import NewJob
from minutehand.model.rules import sentence


class Options(Protocol):
    """Options whose types are not the library's."""

    retry: RetryOptions | None
    on_dead: "str | OnDead | None"


class OnDead(StrictModel):
    """The job to create if another one dies; its payload gets the field `dead`."""

    kind: str = Field(description=f"the name of its handler: {sentence('kind_is_a_name')}")
    payload: dict[str, Any] | None = None
    queue: str | None = None
    priority: StrictInt | None = None
    max_attempts: StrictInt | None = None
    retry: RetryOptions | None = None
    timeout: Duration = None
    headers: dict[str, str] | None = None
    expires: Duration = None
    on_dead: "str | OnDead | None" = None

    def to_job(self) -> NewJob:
        """Return the library's job."""
        return NewJob(**{name: getattr(self, name) for name in OnDead.model_fields} | converted(self))


def converted(options: Options) -> dict[str, Any]:
    """Return the options that have types of their own, as the library's."""
    on_dead = options.on_dead
    return {
        "retry": options.retry and options.retry.to_retry(),
        "on_dead": on_dead.to_job() if isinstance(on_dead, OnDead) else on_dead,
    }
