"""The load of the soak test: jobs with keys, limits, tenants, recurrences and schedules, in a random order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from psycopg.sql import SQL, Identifier, Placeholder

from minutehand import Database, NewJob, Retry, enqueue
from minutehand.operations.controls import limit
from minutehand.schedules.manage import save
from minutehand.schedules.schedule import Schedule

TENANTS = ("acme", "globex", "initech")
LIMITS = {"limited": 3, "single": 1}
SCHEDULES = ("soak-1", "soak-2", "soak-3")
PERIOD = timedelta(seconds=5)
KEYS = 8
RECURRING = 3
MAX_ATTEMPTS = 20
FAILING_ATTEMPTS = 2
KIND = "recorded"
ASYNC_KIND = "recorded_async"
# Of the options of a job, those that the records have.
RECORDED = ("key", "group", "batch", "after", "after_failure", "not_before", "fails", "recurring")
# Shorter than the time for which a worker is frozen.
TIME_LIMIT = timedelta(seconds=2)
Form = tuple[Callable[[], None], int]
SOON = Retry(strategy="fixed", min=timedelta(milliseconds=100), jitter=False)


@dataclass
class Load:
    """Enqueues jobs, and records each in the transaction that enqueues it."""

    database: Database
    random: Random
    numbers: Any = field(default_factory=count)

    def prepare(self) -> None:
        """Set the limits, and save the schedules and the recurring jobs."""
        for queue, most in LIMITS.items():
            limit(self.database, most, queue=queue)
        for name in SCHEDULES:
            job = NewJob(KIND, self.payload(name), queue="scheduled", **options())
            save(self.database, Schedule(name, "*/5 * * * * *", job, catch_up="all"))
        for number in range(RECURRING):
            self._recur(number)

    def step(self) -> None:
        """Enqueue one job, of a random form."""
        functions, weights = zip(*self.forms(), strict=True)
        self.random.choices(functions, weights)[0]()

    def forms(self) -> list[Form]:
        """Return the forms of jobs, with their weights."""
        return [
            (self._plain, 6),
            (self._limited, 8),
            (self._keyed, 4),
            (self._of_a_tenant, 4),
            (self._later, 2),
            (self._failing, 4),
            (self._together, 10),
            (self._recur_again, 3),
        ]

    def _recur_again(self) -> None:
        # Due at once, so that the new job may run next to the one that it replaces.
        self._recur(self.random.randrange(RECURRING), delay=timedelta())

    def _recur(self, number: int, delay: timedelta | None = None) -> None:
        self.enqueue(
            "recurring", key=f"recurring-{number}", every="PT5S", recurring=True, slower=3, delay=delay
        )

    def _plain(self) -> None:
        self.enqueue("plain")

    def _together(self) -> None:
        self.enqueue("together", kind=ASYNC_KIND, fails=self.random.random() < 0.2)

    def _limited(self) -> None:
        # More than the limits let through for a while, so that jobs wait for each other.
        self.enqueue(self.random.choice([*LIMITS]), slower=3)

    def _keyed(self) -> None:
        self.enqueue("keyed", key=f"key-{self.random.randrange(KEYS)}")

    def _of_a_tenant(self) -> None:
        # All tenants use the same queue and the same keys.
        key = f"key-{self.random.randrange(KEYS)}" if self.random.random() < 0.5 else None
        self.enqueue("shared", tenant=self.random.choice(TENANTS), key=key)

    def _later(self) -> None:
        self.enqueue("later", delay=timedelta(seconds=self.random.uniform(1, 20)))

    def _failing(self) -> None:
        self.enqueue("failing", fails=True)

    def payload(self, name: str, *, fails: bool = False, slower: int = 1) -> dict[str, Any]:
        """Return the payload of a job; its handler takes up to half a second, or `slower` times as long."""
        seconds = round(self.random.uniform(0.02, 0.5) * slower, 2)
        return {"name": name, "seconds": seconds, "fail": fails, "deaf": self.random.random() < 0.5}

    def enqueue(
        self,
        queue: str,
        *,
        kind: str = KIND,
        tenant: str = "",
        fails: bool = False,
        recurring: bool = False,
        slower: int = 1,
        delay: timedelta | None = None,
        more: dict[str, Any] | None = None,
        **options_: Any,
    ) -> UUID:
        """Enqueue a job and record it, in one transaction; its payload has the fields of `more`, too."""
        name = f"{queue}-{next(self.numbers)}"
        with self.database.transaction():
            job = enqueue(
                kind,
                {**self.payload(name, fails=fails, slower=slower), **(more or {})},
                queue=queue,
                tenant=tenant or None,
                delay=delay,
                connection=self.database,
                **{**options(fails), **options_},
            )
            given = {
                "fails": fails,
                "recurring": recurring,
                "not_before": None if delay is None else job.visible,
            } | options_
            names = [name for name in RECORDED if given.get(name) is not None]
            values = [given[name] for name in names]
            self.database.connection.execute(
                SQL("insert into soak.enqueued (id, payload, tenant, queue, {}) values ({})").format(
                    SQL(", ").join(map(Identifier, names)), SQL(", ").join([Placeholder()] * (4 + len(names)))
                ),
                [job.id, name, tenant, queue, *values],
            )
        return job.id


class SlowLoad(Load):
    """The same jobs, each of which takes up to one and a half seconds."""

    def payload(self, name: str, *, fails: bool = False, slower: int = 1) -> dict[str, Any]:
        """Return the payload of a slow job."""
        return super().payload(name, fails=fails, slower=max(slower, 3))


class LimitedLoad(Load):
    """Jobs of the queues with limits only."""

    def forms(self) -> list[Form]:
        """Return the only form."""
        return [(self._limited, 1)]


def options(fails: bool = False) -> dict[str, Any]:
    """Return the options of every job."""
    attempts = FAILING_ATTEMPTS if fails else MAX_ATTEMPTS
    return {"timeout": TIME_LIMIT, "retry": SOON, "max_attempts": attempts}
