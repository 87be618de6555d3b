"""Plan: which moments of a schedule fire now, which are skipped or missed, and which comes next."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from minutehand.model.recurrence import REBOOT
from minutehand.schedules.timing import LEAST, Timing

Outcome = Literal["fired", "asked", "skipped", "missed", "refused"]
GRACE = timedelta(minutes=5)  # what is no later than this was not missed: a tick or two went by, or a deploy
REACH = timedelta(days=60)  # catch-up reaches no further back; the ledger is kept longer
AT_ONCE = 100  # moments of one schedule in one transaction
COUNTED = 1000  # missed moments; there may be more


@dataclass(frozen=True)
class Line:
    """A line of the ledger to be: what becomes of a moment; `late` if it was missed and is caught up with."""

    nominal: datetime
    outcome: Outcome
    count: int = 1
    late: bool = False


@dataclass(frozen=True)
class Plan:
    """The lines, and the moment that comes next."""

    lines: tuple[Line, ...]
    next: datetime | None


def plan(timing: Timing, every: str, first: datetime, now: datetime, busy: bool) -> Plan:
    """Decide about the moments from `first` until now, or so far ahead; `busy` while the last job is not finished."""
    if every == REBOOT:
        return Plan((Line(first, "fired"),), None)
    fresh, until = now - GRACE, now + timing.ahead
    late = _late(timing, every, first, fresh)
    prompt = timing.between(every, max(first, fresh), until, AT_ONCE)
    if timing.catch_up == "last" and prompt:
        late = []
    chosen = [*late, *prompt][:AT_ONCE]
    lines = [Line(m, _outcome(timing, busy or place > 0), late=m < fresh) for place, m in enumerate(chosen)]
    begin = chosen[0] if late else max(first, fresh)
    missed = timing.between(every, first, begin - LEAST, COUNTED)
    told = [Line(missed[0], "missed", len(missed))] if missed else []
    return Plan((*told, *lines), timing.after(every, chosen[-1] if chosen else max(until, first - LEAST)))


def _late(timing: Timing, every: str, first: datetime, fresh: datetime) -> list[datetime]:
    """Return those of the moments that were missed which are caught up with."""
    if timing.catch_up == "none" or first >= fresh:
        return []
    most = timing.most if timing.catch_up == "all" else 1
    return timing.latest(every, max(first, fresh - REACH), fresh - LEAST, most)


def _outcome(timing: Timing, busy: bool) -> Outcome:
    return "skipped" if busy and timing.overlap == "skip" else "fired"
