"""The sessions of a run: dispatchers that offer and maintain, and workers that claim, take, fail, die and freeze."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from threading import Barrier
from uuid import UUID

from minutehand import Job
from minutehand.claim import claim, take
from minutehand.finish import finish_all
from minutehand.maintenance import run_maintenance
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done, Failed, Outcome
from minutehand.offer import offer
from tests.queue.flow.ledger import Attempt, Callback, End, Known, Span, timed
from tests.queue.flow.stage import CALLBACK, CALLBACKS, Claimed, Stage
from tests.queue.stage import GRACE, LONG

DISPATCHERS, WORKERS = 8, 20
# Nothing lapses unless the test makes it lapse.
HOUR = timedelta(hours=1)
ERROR = {"type": "ValueError", "message": "no"}
# Ends the wait of one of the groups that wait.
LIFT = """
update minutehand.breakers b
   set open_until = case when b.open_until > clock_timestamp() then clock_timestamp() else b.open_until end,
       slow_until = least(b.slow_until, clock_timestamp())
  from (select * from minutehand.breakers where held_until > clock_timestamp() order by random() limit 1) h
 where (b.queue, b.tenant, b.group) = (h.queue, h.tenant, h.group)
returning b.queue, b.tenant, b.group"""
# Ends an offer or a lease, at most once. A tick that began before a second end would take the job for an offered one.
# An update of run_at records the lane.
LAPSE = """update minutehand.jobs_live set visible = clock_timestamp(), run_at = run_at
            where id = %s and ack = %s and visible > clock_timestamp() returning true"""


def run_session(stage: Stage, number: int, barrier: Barrier) -> None:
    """Run a session until no job is left."""
    session = Dispatcher(stage, number) if number < DISPATCHERS else Worker(stage, number)
    barrier.wait()
    while not stage.is_over(session.database):
        session.step()


class Session:
    """A session with random numbers of its own."""

    def __init__(self, stage: Stage, number: int) -> None:
        self.stage, self.ledger = stage, stage.ledger
        self.database, self.random = stage.queue.another(), Random(f"{stage.seed}/{number}")

    def step(self) -> None:
        raise NotImplementedError

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def lapse(self, job: UUID, ack: UUID) -> Span | None:
        """Let an offer or a lease end, unless the job has another ack."""
        lapsed, span = timed(lambda: self.database.connection.execute(LAPSE, [job, ack]).fetchone())
        return span if lapsed else None


class Dispatcher(Session):
    """Offers jobs, and sends some events twice."""

    def step(self) -> None:
        if self.chance(0.2):
            run_maintenance(self.database)
        offers, span = timed(lambda: offer(self.database, self.random.randint(5, 50), HOUR).offers)
        for each in offers:
            self.ledger.attempts[each.ack] = Attempt(each.id, span)
        self.stage.offers.extend([*offers, *self.random.sample(offers, len(offers) // 4)])
        if offers:
            self.stage.moved()
        else:
            self._lift()

    def _lift(self) -> None:
        lifted, span = timed(lambda: self.database.connection.execute(LIFT).fetchone())
        if lifted:
            self.ledger.lifts[lifted].append(span)


class Worker(Session):
    """Makes attempts at jobs, of which it leaves some, and ends others after their leases."""

    def step(self) -> None:
        if self.chance(0.02):
            self.end_frozen(self.random.sample(list(self.stage.frozen), min(1, len(self.stage.frozen))))
        claimed = self._claimed() if self.chance(0.5) else self._taken()
        for job, _ in claimed:
            self._note(job)
            self._add(job)
        # While another attempt of the same job runs.
        self.end_frozen([job.id for job, _ in claimed if self.chance(0.5)])
        alive = [each for each in claimed if not self._leaves(*each)]
        size = self.random.randint(1, 3)
        for first in range(0, len(alive), size):
            self._end(alive[first : first + size])

    def end_frozen(self, jobs: Sequence[UUID]) -> None:
        """Let frozen workers end their attempts at these jobs, on this session."""
        for each in jobs:
            for job, attempt in self.stage.frozen.pop(each, []):
                self._end([(replace(job, lease=replace(job.lease, database=self.database)), attempt)])

    def _claimed(self) -> list[Claimed]:
        """Claim some offers, and lose the events of others."""
        offers: dict[UUID, Offer] = {}
        while self.stage.offers and len(offers) < 3:
            try:
                each = self.stage.offers.popleft()
            # Another worker was faster.
            except IndexError:
                break
            if self.chance(0.1):
                self._lose(each)
            else:
                offers[each.id] = each
        jobs, span = timed(lambda: claim(self.database, list(offers.values()), HOUR, GRACE) if offers else [])
        found = [(job, self.ledger.attempts[offers[job.id].ack]) for job in jobs]
        for _, attempt in found:
            attempt.claims.append(span)
        return found

    def _lose(self, lost: Offer) -> None:
        """Let an offer lapse. Some of these events arrive later."""
        attempt = self.ledger.attempts[lost.ack]
        attempt.dropped = self.lapse(lost.id, lost.ack) or attempt.dropped
        if self.chance(0.5):
            self.stage.offers.append(lost)

    def _taken(self) -> list[Claimed]:
        name = self.random.choice([*self.stage.queues, CALLBACKS])
        jobs, span = timed(lambda: take(self.database, name, self.random.randint(1, 4), HOUR, GRACE))
        found = [(job, Attempt(job.id, span, [span])) for job in jobs]
        self.ledger.attempts.update({job.ack: attempt for job, attempt in found})
        return found

    def _note(self, job: Job) -> None:
        """Note a callback, of which the test learns here."""
        self.stage.moved()
        if job.kind in CALLBACK and job.id not in self.ledger.jobs:
            self.ledger.jobs[job.id] = Known(queue=CALLBACKS, added=True)
            self.stage.committed.append(job.id)
            counts = job.payload["batch"]
            self.ledger.callbacks[UUID(counts["id"])].append(Callback(job.id, job.kind, counts))

    def _add(self, job: Job) -> None:
        """Add a job to the batch of a running one, the next of its key, or one that runs after it and another."""
        if self.stage.most_added <= 0 or not self.chance(0.6 if job.key else 0.3):
            return
        self.stage.most_added -= 1
        if job.key:
            self.stage.enqueue_again(self.database, job)
        elif job.batch and self.chance(0.5):
            self.stage.enqueue(self.database, self.random, to=job.batch, added=True)
        else:
            other = self.random.choice(self.stage.committed)
            self.stage.enqueue(self.database, self.random, *{job.id, other}, to=job.batch, added=True)

    def _leaves(self, job: Job, attempt: Attempt) -> bool:
        """Let some leases end: those of killed workers, and of frozen ones, which end their attempts later."""
        if not self.chance(0.15):
            return False
        attempt.lapsed = self.lapse(job.id, job.ack)
        if self.chance(0.5):
            self.stage.frozen[job.id].append((job, attempt))
        return True

    def _end(self, claimed: Sequence[Claimed]) -> None:
        outcomes = [self._outcome(job) for job, _ in claimed]
        ended = [(job, outcome) for (job, _), outcome in zip(claimed, outcomes, strict=True)]
        finishes, span = timed(lambda: dict(finish_all(ended)))
        for number, (_, attempt) in enumerate(claimed):
            outcome = outcomes[number]
            held = isinstance(outcome, Failed) and outcome.hold is not None
            attempt.ends.append(End(span, finishes[number].ending, held))
        self.stage.moved()

    def _outcome(self, job: Job) -> Outcome:
        """Fail one attempt in twenty, or most of an ill group; retry at once."""
        place = self.ledger.jobs[job.id].place
        if self.chance(0.2):
            self.stage.ill[place] = not self.stage.ill[place]
        if self.chance(0.8 if self.stage.ill[place] else 0.05):
            hold = LONG if self.chance(0.1) else None
            return Failed(ERROR, timedelta(), final=self.chance(0.1), hold=hold)
        return Done()
