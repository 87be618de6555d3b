"""Wake-ups: one-off schedules that start a tick at a UTC minute.

All writers share the wake-up of a minute, whose name is that minute. It is never deleted. So a conflict proves that its
tick will come, provided that no writer requests the wake-up of a minute that has begun: see `minute_of`.
"""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from time import monotonic
from typing import Protocol
from uuid import uuid4

from minutehand.errors import ConfigurationError, WakeupError
from minutehand.model.failure import message_of
from minutehand.settings.table import WAKEUP_GROUP, WAKEUP_ROLE, WAKEUP_TARGET

MINUTE = timedelta(minutes=1)
# How far the clocks of the database and of AWS may differ, and how long a request may take: a wake-up that has fired is
# not requested again.
LEAD = timedelta(seconds=5)
# A function takes longer to start. Jobs of one call are microseconds apart, and do not each need a minute.
TOLERANCE = timedelta(milliseconds=100)
# Wake-ups of later times are created by the tick before them.
HORIZON = timedelta(days=365)
MOST = 10
# After a failure, requests of this process do not wait for Scheduler until then.
REST_SECONDS = 10.0

logger = logging.getLogger(__name__)


def minute_of(needed: datetime, now: datetime) -> datetime:
    """Return the first full UTC minute at or after a time, and at least LEAD from now."""
    earliest = (max(needed, now + LEAD + TOLERANCE) - TOLERANCE).astimezone(UTC)
    begun = earliest.replace(second=0, microsecond=0)
    return begun if begun == earliest else begun + MINUTE


class WakeupService(Protocol):
    """Creates and deletes wake-ups: EventBridge Scheduler. Raises WakeupError."""

    def create(self, name: str, minute: datetime) -> None:
        """Create the wake-up of this name, unless it exists."""

    def delete(self, name: str) -> None:
        """Delete the wake-up of this name, if it exists."""


class Wakeups:
    """Request wake-ups, those of a minute once in this process."""

    def __init__(self, service: WakeupService) -> None:
        """Remember where wake-ups are created."""
        self._service = service
        self._known: set[datetime] = set()
        self._failure: str | None = None
        self._rests_until = 0.0

    @property
    def failure(self) -> str | None:
        """Why the latest wake-up was not created, or the one before it that failed first; None if it was created."""
        return self._failure

    def request(self, times: Iterable[datetime], now: datetime) -> bool:
        """Request the shared wake-ups of the earliest ten minutes of these times; the ticks then request the others.

        Return whether they exist. A failure is logged and not raised: the next wake-up or sweep finds the jobs.
        """
        soon = sorted({minute_of(time, now) for time in times if time < now + HORIZON})[:MOST]
        # Other threads may replace the set meanwhile, which costs at most a second request for a minute.
        known = {minute for minute in self._known if minute > now}
        for minute in soon:
            if minute not in known and self._try_to_create(f"wake-{_text(minute)}", minute):
                known.add(minute)
        self._known = known
        return known.issuperset(soon)

    def watch(self, time: datetime, now: datetime) -> tuple[str, datetime] | None:
        """Request a wake-up of its own; return its name and minute, or None if that failed."""
        minute = minute_of(time, now)
        name = f"watch-{_text(minute)}-{uuid4().hex[:12]}"
        return (name, minute) if self._try_to_create(name, minute) else None

    def delete(self, names: Iterable[str]) -> None:
        """Delete wake-ups that `watch` has created. One that remains starts a tick for nothing."""
        try:
            for name in names:
                self._service.delete(name)
        except WakeupError as error:
            logger.warning("a wake-up was not deleted, so the next tick finds nothing to do: %s", error)

    def _try_to_create(self, name: str, minute: datetime) -> bool:
        try:
            if monotonic() < self._rests_until:
                raise WakeupError("EventBridge Scheduler failed a moment ago")
            self._service.create(name, minute)
        except WakeupError as error:
            self._rests_until = max(self._rests_until, monotonic() + REST_SECONDS)
            self._failure = self._failure or message_of(error)
            logger.error(
                "the wake-up %s was not created, so its jobs wait for the next wake-up or sweep: %s",
                name,
                error,
            )
            return False
        self._failure = None
        return True


def _text(minute: datetime) -> str:
    return f"{minute:%Y-%m-%dT%H-%M}"


def wakeups() -> Wakeups:
    """Return the wake-ups of the stack that the environment names; raise ConfigurationError if it names none."""
    return wakeups_of(WAKEUP_GROUP.read(), WAKEUP_TARGET.read(), WAKEUP_ROLE.read())


@cache
def wakeups_of(group: str, target: str, role: str) -> Wakeups:
    """Return the wake-ups of a stack."""
    names = {WAKEUP_GROUP.name: group, WAKEUP_TARGET.name: target, WAKEUP_ROLE.name: role}
    if missing := [name for name, value in names.items() if not value]:
        raise ConfigurationError(
            f"MINUTEHAND_MODE=sleep needs {', '.join(missing)}; copy them from the outputs of the stack, or set "
            "MINUTEHAND_MODE=minute"
        )
    # Imported only when used, for the sake of cold starts.
    from minutehand.aws import Scheduler

    return Wakeups(Scheduler(group, target, role))
