"""The checker with the promises of flow control, batches and successors."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.soak import rules
from tests.soak.checker import Check, Checker
from tests.soak.flow_load import BREAK_AFTER, BREAK_FOR, BURST, EACH, ORDERED, PERIOD, RATE

# An offer lasts 3 seconds, and a dispatcher that is frozen for 5.5 seconds may make another one wait that has begun.
FROM_START_TO_CLAIM = timedelta(seconds=9)
# After the end of its lease, a worker is frozen for at most 5.5 seconds, and then goes on.
FROM_LEASE_TO_OUTCOME = timedelta(seconds=10)


class FlowChecker(Checker):
    """The records of one run, with all promises."""

    def __init__(self, url: str) -> None:
        """Read all records."""
        super().__init__(url)
        self._ended = {ending.job: ending for ending in self.endings}
        self._accepted: dict[str, list[Any]] = defaultdict(list)
        for effect in self.effects:
            self._accepted[effect.payload].append(effect)

    def checks(self) -> list[Check]:
        """Return the checks, whose names are the promises."""
        return [
            *super().checks(),
            self._limits_of_each_hold,
            self._groups_are_in_order,
            self._rates_hold,
            self._breakers_hold,
            self._batches_call_back_once,
            self._successors_follow,
        ]

    def _limits_of_each_hold(self) -> Iterator[str]:
        for queue, (per, most) in EACH.items():
            for name, attempts in self._of_each(queue, per).items():
                for evidence in rules.too_many(attempts, most):
                    yield f"{queue}/{name}: {evidence}"

    def _groups_are_in_order(self) -> Iterator[str]:
        place = {new.id: number for number, new in enumerate(self.enqueued)}
        for queue in ORDERED:
            for name, attempts in self._of_each(queue, "group").items():
                for evidence in rules.out_of_order(attempts, place):
                    yield f"{queue}/{name}: {evidence}"

    def _rates_hold(self) -> Iterator[str]:
        for name, attempts in self._of_each("rated", "group").items():
            rate = RATE / PERIOD.total_seconds()
            for evidence in rules.too_fast(attempts, rate=rate, burst=BURST, slack=FROM_START_TO_CLAIM):
                yield f"rated/{name}: {evidence}"

    def _breakers_hold(self) -> Iterator[str]:
        for name, attempts in self._of_each("breaking", "group").items():
            for evidence in rules.while_open(
                attempts, break_after=BREAK_AFTER, break_for=BREAK_FOR, slack=FROM_LEASE_TO_OUTCOME
            ):
                yield f"breaking/{name}: {evidence}"

    def _batches_call_back_once(self) -> Iterator[str]:
        jobs: dict[UUID, dict[UUID, Any]] = defaultdict(dict)
        for new in self.enqueued:
            if new.batch:
                jobs[new.batch][new.id] = new
        for batch in self.batches:
            names = [f"{batch.name}-{ending}" for ending in ("complete", "failure")]
            calls = [each for each in self.attempts if each.payload in names]
            effects = [each for name in names for each in self._accepted[name]]
            yield from rules.wrong_callback(batch.name, jobs[batch.id], calls, effects, self._ended)

    def _successors_follow(self) -> Iterator[str]:
        for new in self.enqueued:
            if new.after:
                yield from rules.wrong_successor(
                    new, self.of_job[new.id], self._accepted[new.payload], self._ended
                )

    def _of_each(self, queue: str, per: str) -> dict[str, list[Any]]:
        """Return the attempts of each group, key or tenant of a queue."""
        found: dict[str, list[Any]] = defaultdict(list)
        for each in self.attempts:
            if each.queue == queue:
                found[getattr(each, per)].append(each)
        return found
