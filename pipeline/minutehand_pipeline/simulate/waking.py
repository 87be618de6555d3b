"""Waking: when the dispatcher runs in each mode. The rules are those of minutehand.waking."""

import math
from collections.abc import Sequence

from minutehand_pipeline.simulate.agenda import TICKS, Agenda
from minutehand_pipeline.simulate.chance import number
from minutehand_pipeline.simulate.dispatcher import Dispatcher
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally
from minutehand_pipeline.simulate.ticks import Ticks

# With more jobs at once, the dispatcher offers them; the same as minutehand.waking.prompt.MOST_OFFERED.
MOST_OFFERED = 32
# Seconds between two polls of a dispatcher that waits, from a dispatch to the next, and if limits have no room.
POLL, TOGETHER, BLOCKED = 1.0, 0.1, 2.0
# Seconds before a minute in which its wake-up is not requested any more.
LEAD = 5.0
MINUTE = 60.0


class MinuteWaking:
    """A tick at regular intervals. Ticks that have nothing to do are not simulated."""

    def __init__(
        self, policy: Policy, agenda: Agenda, dispatcher: Dispatcher, tally: Tally, seed: int
    ) -> None:
        """Start before the first tick."""
        self.policy, self.agenda, self.dispatcher, self.tally = policy, agenda, dispatcher, tally
        self.seed = seed
        self._ticks = Ticks(policy.interval, policy.phase)
        self._requested = False

    def enqueued(self, now: float, due: Sequence[int]) -> None:
        """React to an enqueue of jobs, of which some are due."""
        if due:
            self.need(now)

    def due(self, now: float, known: float) -> None:
        """React to a job that becomes due, which was known since a time."""
        self.need(now)

    def need(self, now: float) -> None:
        """Request the next tick."""
        if not self._requested:
            self._requested = True
            self.agenda.at(self._ticks.first_from(now), TICKS, self._tick)

    def _tick(self, now: float) -> None:
        self._requested = False
        self._ticks.last = now
        self.dispatcher.dispatch(now, self.tally.tick(now))
        if self.dispatcher.waits:
            self.need(now)


class PromptWaking(MinuteWaking):
    """Besides the ticks, jobs are offered right after their enqueue, and the dispatcher waits for others."""

    _next = _tried = _polled = _invoked = -math.inf
    _polls = False

    def enqueued(self, now: float, due: Sequence[int]) -> None:
        """Offer the jobs that are due, or let the dispatcher do it."""
        if not due:
            return
        if len(due) <= MOST_OFFERED and self.dispatcher.offer_now(now, due):
            return
        self.need(now)
        # It is invoked at most once a second, unless it waits.
        if not self._polls:
            self._invoked = max(now + self.policy.latency, self._invoked + POLL)
            self._polled = self._invoked
            self._poll_at(self._invoked)

    def due(self, now: float, known: float) -> None:
        """Dispatch a job for which the dispatcher has waited."""
        self.need(now)
        if not self._polls or self._next > now + TOGETHER:
            self._polled = max(self._polled, now - now % self.policy.interval)
            self._poll_at(max(now, self._tried + TOGETHER))

    def _poll_at(self, moment: float) -> None:
        self._polls, self._next = True, moment
        self.agenda.at(moment, TICKS, self._poll)

    def _poll(self, now: float) -> None:
        if not self._polls or now != self._next:
            return
        self._polls = False
        self.tally.waited += now - min(now, self._polled)
        self._polled = now
        lanes, blocked = self.dispatcher.lanes, False
        if (lanes.due or lanes.aside) and not self.dispatcher.full:
            blocked = not self.dispatcher.dispatch(now, now)
            self._tried = now
        # Jobs whose limits have no room wait for another one to end.
        if lanes.due or (lanes.aside and self.dispatcher.busy):
            self._poll_at(now + (POLL if self.dispatcher.full else BLOCKED if blocked else TOGETHER))


class SleepWaking(MinuteWaking):
    """A tick in the minutes for which a wake-up was requested."""

    def __init__(
        self, policy: Policy, agenda: Agenda, dispatcher: Dispatcher, tally: Tally, seed: int
    ) -> None:
        """Start without wake-ups."""
        super().__init__(policy, agenda, dispatcher, tally, seed)
        self._minutes: set[float] = set()

    def due(self, now: float, known: float) -> None:
        """Request the wake-up of a job when it is known; its minute is that of the time when it is due."""
        self._request(now, known)

    def need(self, now: float) -> None:
        """Request the next wake-up."""
        self._request(now, now)

    def _request(self, due: float, now: float) -> None:
        minute = math.ceil(max(due, now + LEAD) / MINUTE - 1e-9) * MINUTE
        if minute not in self._minutes:
            self._minutes.add(minute)
            late = self.policy.wakeup_delay * number(int(minute), self.seed)
            self.agenda.at(minute + late, TICKS, self._fire, minute)

    def _fire(self, now: float, minute: float) -> None:
        self._minutes.discard(minute)
        self.dispatcher.dispatch(now, self.tally.tick(now))
        if self.dispatcher.lanes.due:
            self.need(now)
        elif self.dispatcher.waits:
            # The watch over offers; the worker that ends the last job deletes it.
            self.agenda.at(now + MINUTE, TICKS, self._watch)

    def _watch(self, now: float) -> None:
        if self.dispatcher.waits:
            self.need(now)


WAKING: dict[str, type[MinuteWaking]] = {
    "minute": MinuteWaking,
    "prompt": PromptWaking,
    "sleep": SleepWaking,
}
