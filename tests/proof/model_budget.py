"""The budgets of queues whose offers lapse."""

from dataclasses import dataclass, field
from uuid import UUID

from model_job import ModelJob


@dataclass
class BudgetModel:
    """The time, all jobs, and the budgets."""

    now: int = 0
    jobs: dict[UUID, ModelJob] = field(default_factory=dict)
    ticked: int = -1
    # The budget after the last lapse, and its time.
    budgets: dict[str, tuple[int, int]] = field(default_factory=dict)

    def budget(self, capacity: int) -> dict[str, int]:
        """Return the budgets of queues whose offers lapsed. Call it once per tick."""
        budgets = {}
        for queue in {job.queue for job in self.jobs.values()} | set(self.budgets):
            lapsed_offers = sum(
                job.queue == queue and self.ticked < job.visible <= self.now and job.first_offer
                for job in self.jobs.values()
            )
            former = self._former_budget(queue, capacity)
            left = (
                max(
                    1,
                    capacity // 20,
                    former - lapsed_offers if lapsed_offers * 10 < former * 9 else former // 2,
                )
                if lapsed_offers * 50 > former
                else former
            )
            if lapsed_offers * 50 > former:
                self.budgets[queue] = left, self.now
            if lapsed_offers or left < capacity:
                budgets[queue] = left
        self.ticked = self.now
        return budgets

    def _former_budget(self, queue: str, capacity: int) -> int:
        if queue not in self.budgets:
            return capacity
        left, lapsed = self.budgets[queue]
        minutes = (self.now - lapsed) // 60
        return min(capacity, left + (2 ** min(minutes - 9, 20) - 1 if minutes >= 10 else 0))
