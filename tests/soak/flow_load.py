"""The load of flow control: groups, limits per key and tenant, rates, breakers, batches and successors."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from minutehand import NewJob, batch
from minutehand.model.control import Per
from minutehand.operations.controls import limit
from tests.soak.load import FAILING_ATTEMPTS, KIND, MAX_ATTEMPTS, TENANTS, Form, Load, options

GROUPS = 4
# The limit of each group, key or tenant of a queue. Without a declared one, a group runs one job at a time.
EACH: dict[str, tuple[Per, int]] = {
    "grouped": ("group", 1),
    "ordered": ("group", 1),
    "per_key": ("key", 1),
    "per_tenant": ("tenant", 2),
    "rated": ("group", 10),
    "breaking": ("group", 1),
}
ORDERED = ("ordered",)
# Of each group of the queue `rated`: one start in two seconds, and bursts of two.
RATE, PERIOD, BURST = 1, timedelta(seconds=2), 2
# More jobs than a rate lets start during the slack of the checker.
MANY = 12
RATED_GROUPS = 2
BREAK_AFTER, BREAK_FOR = 3, timedelta(seconds=4)
BREAKING_GROUPS = 3
# The checker counts a failure only if the next job is claimed within the lease.
LONGER_THAN_A_BREAK = timedelta(seconds=8)
# The queues whose jobs workers take themselves, too.
TAKEN = ("grouped", "ordered", "per_tenant", "rated", "breaking", "batched")


class FlowLoad(Load):
    """Enqueues jobs under flow control, and jobs of batches, and those that wait for others."""

    def prepare(self) -> None:
        """Set the limits."""
        super().prepare()
        for queue in ("per_key", "per_tenant"):
            per, most = EACH[queue]
            limit(self.database, most, queue=queue, per=per)
        limit(self.database, 1, queue="ordered", per="group", in_order=True)
        _, most = EACH["rated"]
        limit(self.database, most, queue="rated", per="group", rate=RATE, period=PERIOD, burst=BURST)
        limit(self.database, queue="breaking", per="group", break_after=BREAK_AFTER, break_for=BREAK_FOR)

    def forms(self) -> list[Form]:
        """Return the forms of jobs, with their weights."""
        return [
            (self._grouped, 6),
            (self._ordered, 6),
            (self._per_key, 4),
            (self._per_tenant, 2),
            (self._rated, 1),
            (self._breaking, 2),
            (self._batch, 4),
            (self._successor, 4),
        ]

    def _grouped(self) -> None:
        self.enqueue("grouped", group=self._group(), slower=2)

    def _ordered(self) -> None:
        # A job that waits for its retry keeps its place.
        self.enqueue("ordered", group=self._group(), fails=self.random.random() < 0.3)

    def _per_key(self) -> None:
        # A new job may be due while the former one with its key runs.
        self.enqueue("per_key", key=f"key-{self.random.randrange(3)}", slower=2)

    def _per_tenant(self) -> None:
        # More at once than the limit.
        tenant = self.random.choice(TENANTS)
        for _ in range(EACH["per_tenant"][1] + 2):
            self.enqueue("per_tenant", tenant=tenant, slower=2)

    def _rated(self) -> None:
        group = self._group(RATED_GROUPS)
        for _ in range(MANY):
            self.enqueue("rated", group=group)

    def _breaking(self) -> None:
        # Enough failures in a row, and then a success.
        group = self._group(BREAKING_GROUPS)
        for fails in (True, True, False):
            self.enqueue("breaking", group=group, fails=fails, timeout=LONGER_THAN_A_BREAK)

    def _batch(self) -> None:
        name = f"batch-{next(self.numbers)}"
        with batch(
            on_complete=self._callback(f"{name}-complete"),
            on_failure=self._callback(f"{name}-failure"),
            name=name,
            connection=self.database,
        ) as opened:
            self.database.connection.execute(
                "insert into soak.batches (id, name) values (%s, %s)", [opened.id, name]
            )
            for _ in range(self.random.randint(1, 4)):
                self._in_batch(opened.id)

    def _in_batch(self, batch: UUID) -> None:
        fails = self.random.random() < 0.1
        grouped: dict[str, Any] = {"group": self._group()} if self.random.random() < 0.3 else {}
        queue = "grouped" if grouped else "batched"
        self.enqueue(queue, fails=fails, batch=batch, more=self._adding(), **grouped)

    def _adding(self) -> dict[str, Any]:
        """Return the fields of the payload with which a job adds another one to its batch."""
        if self.random.random() < 0.5:
            return {}
        fails = self.random.random() < 0.1
        return {
            "adds": self.random.choice(["before", "together"]),
            "added_fails": fails,
            "attempts_of_added": FAILING_ATTEMPTS if fails else MAX_ATTEMPTS,
        }

    def _callback(self, name: str) -> NewJob:
        return NewJob(KIND, self.payload(name), queue="callbacks", **options())

    def _successor(self) -> None:
        after = [
            self.enqueue("first", fails=self.random.random() < 0.2, slower=2)
            for _ in range(self.random.randint(1, 3))
        ]
        self.enqueue("then", after=after, after_failure=self.random.choice(["cancel", "run"]))

    def _group(self, groups: int = GROUPS) -> str:
        return f"group-{self.random.randrange(groups)}"


class MixedLoad(FlowLoad):
    """Enqueues jobs of all forms."""

    def forms(self) -> list[Form]:
        """Return the forms of both loads, with their weights."""
        return [*Load.forms(self), *super().forms()]
