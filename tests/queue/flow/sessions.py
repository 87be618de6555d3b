"""The sessions of a run: dispatchers that offer and maintain, and workers that claim, take, fail and add successors."""

from collections import defaultdict, deque
from datetime import timedelta
from random import Random
from threading import Barrier
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand import Database, Job
from minutehand.enqueue import enqueue
from minutehand.finish import finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done, Failed, Outcome
from tests.queue.flow.ledger import End, Ledger, Place, timed
from tests.queue.stage import LONG, Queue

DISPATCHERS, WORKERS = 8, 20
# Of a run; far less is needed.
SECONDS = 60
ERROR = {"type": "ValueError", "message": "no"}
GROUPS = ("a", "b")
LEFT = "select count(*) from minutehand.jobs_live"
# Ends the wait of one of the groups that wait.
LIFT = """
update minutehand.breakers b
   set open_until = case when b.open_until > clock_timestamp() then clock_timestamp() else b.open_until end,
       slow_until = least(b.slow_until, clock_timestamp())
  from (select * from minutehand.breakers where held_until > clock_timestamp() order by random() limit 1) h
 where (b.queue, b.tenant, b.group) = (h.queue, h.tenant, h.group)
returning b.queue, b.group"""


class Stage:
    """The queues of a run, and its ledger."""

    def __init__(self, queue: Queue, seed: int, queues: tuple[str, ...], most_successors: int) -> None:
        self.queue, self.seed, self.queues = queue, seed, queues
        self.random = Random(seed)
        self.ledger = Ledger()
        self._successors = most_successors
        self._offers: deque[Offer] = deque()
        # Groups whose jobs fail for a while.
        self._ill: dict[Place, bool] = defaultdict(bool)

    def enqueue(self, database: Database, random: Random, *after: UUID) -> None:
        """Add a job of a random group."""
        name, group = random.choice(self.queues), random.choice(GROUPS)
        policy = random.choice(("run", "cancel"))
        options: Any = {"after": after, "after_failure": policy} if after else {}
        made = enqueue("echo", queue=name, group=group, max_attempts=4, connection=database, **options)
        self.ledger.add(made.id, name, group, after)

    def session(self, number: int, barrier: Barrier) -> None:
        """Run a session until no job is left."""
        database, random = self.queue.another(), Random(f"{self.seed}/{number}")
        barrier.wait()
        end = monotonic() + SECONDS
        while database.connection.execute(LEFT).fetchone() != (0,):
            assert monotonic() < end, "jobs are left"
            if number < DISPATCHERS:
                self._dispatch(database, random)
            else:
                self._work(database, random)

    def _dispatch(self, database: Database, random: Random) -> None:
        if random.random() < 0.2:
            run_maintenance(database)
        offers, span = timed(lambda: self.queue.offer(random.randint(5, 50), database))
        for offer in offers:
            self.ledger.starts[offer.id].append(span)
        # A duplicated event.
        self._offers.extend(offers + random.sample(offers, len(offers) // 4))
        if not offers:
            self._lift(database)

    def _lift(self, database: Database) -> None:
        lifted, span = timed(lambda: database.connection.execute(LIFT).fetchone())
        if lifted:
            self.ledger.lifts[lifted].append(span)

    def _work(self, database: Database, random: Random) -> None:
        jobs = self._claimed(database, random) if random.random() < 0.5 else self._taken(database, random)
        for job in jobs:
            if self._successors > 0 and random.random() < 0.3:
                self._successors -= 1
                self.enqueue(database, random, *{job.id, random.choice(list(self.ledger.jobs))})
        size = random.randint(1, 3)
        for first in range(0, len(jobs), size):
            self._end(jobs[first : first + size], random)

    def _claimed(self, database: Database, random: Random) -> list[Job]:
        offers: list[Offer] = []
        while self._offers and len(offers) < 3:
            try:
                offers.append(self._offers.popleft())
            # Another worker was faster.
            except IndexError:
                break
        return self.queue.claim(*offers, database=database) if offers else []

    def _taken(self, database: Database, random: Random) -> list[Job]:
        name = random.choice(self.queues)
        jobs, span = timed(lambda: self.queue.take(random.randint(1, 4), name, database))
        for job in jobs:
            self.ledger.starts[job.id].append(span)
        return jobs

    def _end(self, jobs: list[Job], random: Random) -> None:
        outcomes = [self._outcome(job, random) for job in jobs]
        endings, span = timed(lambda: dict(finish_all(list(zip(jobs, outcomes, strict=True)))))
        for number, job in enumerate(jobs):
            outcome = outcomes[number]
            held = isinstance(outcome, Failed) and outcome.hold is not None
            self.ledger.ends[job.id].append(End(span, endings[number].ending, held))

    def _outcome(self, job: Job, random: Random) -> Outcome:
        """Fail one attempt in twenty, or most of an ill group; retry at once."""
        place = self.ledger.jobs[job.id].place
        if random.random() < 0.2:
            self._ill[place] = not self._ill[place]
        if random.random() < (0.8 if self._ill[place] else 0.05):
            hold = LONG if random.random() < 0.1 else None
            return Failed(ERROR, timedelta(), final=random.random() < 0.1, hold=hold)
        return Done()
