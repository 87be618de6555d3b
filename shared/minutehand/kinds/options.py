"""The options that a decorator may set for all jobs of its kind."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TypedDict

from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile
from minutehand.model.retry import Retry


class KindOptions(TypedDict, total=False):
    """The options of NewJob that can be the same for all jobs of a kind."""

    queue: str | None
    priority: int | None
    max_attempts: int | None
    retry: Retry | None
    timeout: timedelta | None
    headers: Mapping[str, str] | None
    personal: bool | None
    on_conflict: OnConflict
    unique_while: UniqueWhile | None
    unique_for: timedelta | None
    debounce: timedelta | None
    debounce_max: timedelta | None
    throttle: timedelta | None
    expires: timedelta | None
    on_dead: NewJob | str | None
