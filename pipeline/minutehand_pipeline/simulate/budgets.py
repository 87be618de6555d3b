"""Budgets: a queue whose offers lapse is offered less for a while; as budget.sql does it."""

import math


class Budgets:
    """How many jobs of a queue may be offered or running, for the queues that may have fewer than the capacity."""

    def __init__(self, capacity: int) -> None:
        """Begin with nobody held back."""
        self._capacity = capacity
        self._kept: dict[int, tuple[int, float]] = {}

    def after(self, vain: dict[int, int], now: float) -> dict[int, int]:
        """Return the budgets at a tick; `vain` is how many offers of a queue lapsed since the last one."""
        if not vain and not self._kept:
            return {}
        lowered = {queue: self._lowered(queue, vain.get(queue, 0), now) for queue in {*self._kept, *vain}}
        return {queue: budget for queue, budget in lowered.items() if budget < self._capacity}

    def _lowered(self, queue: int, vain: int, now: float) -> int:
        budget = min(self._capacity, self._grown(queue, now))
        if vain * 50 <= budget:  # two in a hundred are bad luck
            return budget
        left = budget - vain if vain * 10 < budget * 9 else budget // 2
        self._kept[queue] = (max(1, self._capacity // 20, left), now)
        return self._kept[queue][0]

    def _grown(self, queue: int, now: float) -> int:
        if queue not in self._kept:
            return self._capacity
        budget, lapsed = self._kept[queue]
        age = math.floor((now - lapsed) / 60)
        return budget if age <= 9 else budget + 2 ** min(age - 9, 20) - 1
