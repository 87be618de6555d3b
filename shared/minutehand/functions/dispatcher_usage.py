"""Dispatcher usage: what each invocation of the dispatcher records for `minutehand cost`, and how late it began."""

import logging
from datetime import UTC, datetime
from math import ceil
from time import monotonic
from typing import Any

from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.settings import Settings
from minutehand.settings.table import MODE

logger = logging.getLogger(__name__)


class UsageRecorder:
    """Records the invocations of one environment, of which the first one was a cold start."""

    def __init__(self) -> None:
        """Begin with the cold start."""
        self._cold = True

    def record(
        self,
        database: Database,
        settings: Settings,
        *,
        scheduled: bool,
        memory_mb: int,
        began: float,
        waited_ms: int,
    ) -> None:
        """Record an invocation that began at a monotonic second. An error is logged: the report lacks it."""
        cold, self._cold = self._cold, False
        try:
            database.run(
                "record_usage",
                mode=MODE.read(),
                memory_mb=memory_mb,
                scheduled=scheduled,
                cold=cold,
                ran_ms=ceil((monotonic() - began) * 1000),
                waited_ms=waited_ms,
                capacity=settings.capacity,
                chunk=settings.chunk,
            )
        except DatabaseError as error:
            logger.warning("the usage of this invocation is not recorded: %s", error)


def lag_of(event: dict[str, Any]) -> int | None:
    """Return the delay of a tick in milliseconds; None if its event has no time, as in a manual invocation."""
    try:
        scheduled = datetime.fromisoformat(event.get("scheduled") or event.get("time") or "")
        return max(0, round((datetime.now(UTC) - scheduled).total_seconds() * 1000))
    except (TypeError, ValueError):
        return None
