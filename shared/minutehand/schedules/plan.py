"""Plan: which occurrences of a schedule fire now, which are skipped or missed, and which comes next."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from minutehand.model.recurrence import REBOOT
from minutehand.schedules.timing import LEAST, Timing

Outcome = Literal["fired", "requested", "skipped", "missed", "refused"]
# An occurrence that is less late than this is not missed: a few ticks were skipped, for example by a deploy.
GRACE = timedelta(minutes=5)
# How far back catch-up reaches; the ledger is kept longer.
REACH = timedelta(days=60)
# Occurrences of one schedule in one tick.
AT_ONCE = 1000
# Missed occurrences that are counted; there may be more.
COUNTED = 1000


@dataclass(frozen=True)
class Line:
    """A planned line of the ledger: the outcome of an occurrence; `late` if a missed occurrence is caught up."""

    nominal: datetime
    outcome: Outcome
    count: int = 1
    late: bool = False


@dataclass(frozen=True)
class Plan:
    """The lines, and the next occurrence."""

    lines: tuple[Line, ...]
    next: datetime | None


def plan(
    timing: Timing, every: str, first: datetime, now: datetime, busy: bool, limit: int = AT_ONCE
) -> Plan:
    """Plan up to `limit` occurrences from `first` to now plus `ahead`; `busy` means that the last job is unfinished."""
    if every == REBOOT:
        return Plan((Line(first, "fired"),), None)
    fresh, until = now - GRACE, now + timing.ahead
    late = _late(timing, every, first, fresh)
    prompt = timing.between(every, max(first, fresh), until, limit)
    if timing.catch_up == "last" and prompt:
        late = []
    chosen = [*late, *prompt][:limit]
    lines = [Line(m, _outcome(timing, busy or place > 0), late=m < fresh) for place, m in enumerate(chosen)]
    begin = chosen[0] if late else max(first, fresh)
    missed = timing.between(every, first, begin - LEAST, COUNTED)
    skipped = [Line(missed[0], "missed", len(missed))] if missed else []
    return Plan((*skipped, *lines), timing.after(every, chosen[-1] if chosen else max(until, first - LEAST)))


def _late(timing: Timing, every: str, first: datetime, fresh: datetime) -> list[datetime]:
    """Return the missed occurrences that are caught up."""
    if timing.catch_up == "none" or first >= fresh:
        return []
    limit = timing.max_catch_up if timing.catch_up == "all" else 1
    return timing.latest(every, max(first, fresh - REACH), fresh - LEAST, limit)


def _outcome(timing: Timing, busy: bool) -> Outcome:
    return "skipped" if busy and timing.overlap == "skip" else "fired"
