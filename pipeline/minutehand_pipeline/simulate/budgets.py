"""Budgets: a queue whose offers lapse gets fewer offers for a while. The rules are in adjust_budgets.sql."""

import math


class Budgets:
    """The maximum number of offered or running jobs per queue, for queues below the capacity."""

    def __init__(self, capacity: int) -> None:
        """Start with no queue below the capacity."""
        self._capacity = capacity
        self._lowered: dict[int, tuple[int, float]] = {}

    def update(self, lapsed: dict[int, int], now: float) -> dict[int, int]:
        """Return the budgets at a tick; `lapsed` counts each queue's offers that lapsed since the last tick."""
        if not lapsed and not self._lowered:
            return {}
        queues = {*self._lowered, *lapsed}
        budgets = {queue: self._budget(queue, lapsed.get(queue, 0), now) for queue in queues}
        return {queue: budget for queue, budget in budgets.items() if budget < self._capacity}

    def of(self, queue: int, now: float) -> int | None:
        """Return the budget of a queue if it is below the capacity."""
        if queue not in self._lowered or (budget := self._recovered(queue, now)) >= self._capacity:
            return None
        return budget

    def _budget(self, queue: int, lapsed: int, now: float) -> int:
        budget = min(self._capacity, self._recovered(queue, now))
        # Up to 2 % may lapse without consequences.
        if lapsed * 50 <= budget:
            return budget
        left = budget - lapsed if lapsed * 10 < budget * 9 else budget // 2
        self._lowered[queue] = (max(1, self._capacity // 20, left), now)
        return self._lowered[queue][0]

    def _recovered(self, queue: int, now: float) -> int:
        if queue not in self._lowered:
            return self._capacity
        budget, lowered_at = self._lowered[queue]
        minutes = math.floor((now - lowered_at) / 60)
        return budget if minutes <= 9 else budget + 2 ** min(minutes - 9, 20) - 1
