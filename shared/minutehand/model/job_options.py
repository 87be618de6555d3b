"""The options of a job as the keyword arguments of a function; see NewJob for their meaning."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypedDict
from uuid import UUID

from minutehand.model.after import After, AfterFailure
from minutehand.model.key import Key
from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile
from minutehand.model.retry import Retry


class KindOptions(TypedDict, total=False):
    """The options that can be the same for all jobs of a kind."""

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


class JobOptions(KindOptions, total=False):
    """All options except kind and payload."""

    key: Key | None
    group: Key | None
    run_at: datetime | None
    delay: timedelta | None
    every: str | timedelta | None
    zone: str | None
    tenant: str | None
    batch: UUID | None
    after: After | None
    after_failure: AfterFailure | None
