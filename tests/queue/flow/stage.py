"""What a run enqueues, and what its sessions share."""

from collections import defaultdict, deque
from random import Random
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand import Database, Job, NewJob, batch
from minutehand.enqueue import enqueue
from minutehand.model.offer import Offer
from tests.queue.flow.ledger import Attempt, Known, Ledger, Place
from tests.queue.stage import Queue

# Of a run in which no job starts or ends; far less is needed.
SECONDS = 60
MAX_ATTEMPTS = 4
GROUPS = ("a", "b")
KEYS = ("k", "l", "m")
TENANTS = ("", "x", "y")
# The queue of the jobs that batches enqueue when they end.
CALLBACKS = "callbacks"
CALLBACK = {name: NewJob(name, queue=CALLBACKS, max_attempts=MAX_ATTEMPTS) for name in ("complete", "fail")}
LEFT = "select count(*) from minutehand.jobs_live"
Claimed = tuple[Job, Attempt]


class Stage:
    """The queues of a run, and its ledger. Jobs of `grouped` queues have a group, those of `keyed` ones a key."""

    def __init__(
        self,
        queue: Queue,
        seed: int,
        grouped: tuple[str, ...],
        keyed: tuple[str, ...],
        others: tuple[str, ...],
    ) -> None:
        self.queue, self.seed = queue, seed
        self._grouped, self._keyed = grouped, keyed
        self.queues = (*grouped, *keyed, *others)
        self.random = Random(seed)
        self.ledger = Ledger()
        self.most_added = 0
        self.offers: deque[Offer] = deque()
        # Jobs that every session sees; those of `batch` are added before the sessions start.
        self.committed: list[UUID] = []
        # Groups whose jobs fail for a while.
        self.ill: dict[Place | None, bool] = defaultdict(bool)
        # Attempts of frozen workers, by their jobs.
        self.frozen: dict[UUID, list[Claimed]] = defaultdict(list)
        self._progress = monotonic()

    def enqueue(
        self, database: Database, random: Random, *after: UUID, to: UUID | None = None, added: bool = False
    ) -> None:
        """Add a job of a random queue, which may be in a batch, and run after others."""
        name = random.choice(self.queues)
        related = after or to
        name = random.choice(self._grouped) if related and name in self._keyed else name
        of: dict[str, Any] = {"queue": name, "after": after, "batch": to, "tenant": random.choice(TENANTS)}
        if name in self._grouped:
            of |= {"group": random.choice(GROUPS), "tenant": ""}
        if name in self._keyed:
            of["key"] = random.choice(KEYS)
        if after:
            of["after_failure"] = random.choice(("run", "cancel"))
        self._add(database, of, added=added or to is not None)

    def enqueue_again(self, database: Database, job: Job) -> None:
        """Add the next job of a key while one runs."""
        self._add(database, {"queue": job.queue, "key": job.key, "tenant": job.tenant}, added=True)

    def _add(self, database: Database, of: dict[str, Any], *, added: bool) -> None:
        """Enqueue a job. It is in the ledger before others can see it."""
        with database.transaction():
            options = {option: value for option, value in of.items() if value}
            made = enqueue(
                "echo", max_attempts=MAX_ATTEMPTS, on_conflict="ignore", connection=database, **options
            )
            if made.outcome == "created":
                self.ledger.jobs[made.id] = Known(**of, added=added, number=len(self.ledger.jobs))
        if made.outcome == "created":
            self.committed.append(made.id)

    def batch(self, database: Database, random: Random, size: int) -> None:
        """Add a batch of jobs of random queues."""
        with batch(
            on_complete=CALLBACK["complete"], on_failure=CALLBACK["fail"], connection=database
        ) as opened:
            for _ in range(size):
                self.enqueue(database, random, to=opened.id)
            self.ledger.batches.append(opened.id)

    def moved(self) -> None:
        """Note that a job started or ended."""
        self._progress = monotonic()

    def is_over(self, database: Database) -> bool:
        """Whether no job is left. Fail if none has started or ended for long."""
        over = database.connection.execute(LEFT).fetchone() == (0,)
        assert over or monotonic() < self._progress + SECONDS, "jobs are left, and none starts"
        return over
