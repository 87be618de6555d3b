"""minutehand: resident workers; with the argument `invited`, a dispatcher that offers jobs once a second."""

import sys
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

from bench.snapshot.clients.steady import main
from minutehand.attempts.taker import Taker
from minutehand.claim import claim
from minutehand.claimed_job import Job
from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.finish import finish_all
from minutehand.maintenance import WorkerMaintenance, run_maintenance
from minutehand.model.looked import Looked
from minutehand.model.new_job import NewJob
from minutehand.model.offer import Offer
from minutehand.model.outcome import DONE
from minutehand.model.queues import Queues
from minutehand.model.turns import Turns
from minutehand.offer import offer
from minutehand.schema.migrate import migrate

LEASE, GRACE, TTL = timedelta(minutes=5), timedelta(seconds=2), timedelta(minutes=2)


class Resident:
    """A worker of `minutehand work`, which runs the takes that belong to the last outcomes alone, to measure them."""

    def __init__(self, url: str) -> None:
        """Connect on first use."""
        self.url, self.database, self.maintenance = url, Database(url), WorkerMaintenance()
        self.close = self.database.close
        self.taker: Taker | None = None
        # Whether outcomes precede the next take.
        self.is_busy = False

    def prepare(self) -> None:
        """Create the tables."""
        migrate(self.url)

    def enqueue(self, count: int) -> None:
        """Enqueue jobs together."""
        list(enqueue_many((NewJob("noop", {"n": n}) for n in range(count)), connection=self.database))

    def claim(self, batch: int) -> list[Job]:
        """Take due jobs."""
        if self.taker is None:
            turns = Turns(Queues.of("default"))
            self.taker = Taker(self.database, turns, batch, LEASE, GRACE, looked=Looked())
        if self.is_busy and (ahead := self.taker.ahead()):
            ahead.sent = monotonic()
            ahead.rows = self.database.run(ahead.name, **ahead.parameters)
            ahead.seconds = monotonic() - ahead.sent
        jobs = self.taker.take()
        self.is_busy = bool(jobs)
        return jobs

    def finish(self, jobs: Sequence[Job]) -> None:
        """Finish jobs together, and run maintenance when it is due."""
        finish_together(jobs)
        self.maintenance.run(self.database)


class Invited(Resident):
    """A worker that is invited by a dispatcher."""

    def maintain(self) -> None:
        """Run the maintenance of a tick."""
        run_maintenance(self.database)

    def offer(self, capacity: int) -> list[Offer]:
        """Offer due jobs."""
        return list(offer(self.database, capacity, TTL).offers)

    def claim_offered(self, offers: list[Offer]) -> list[Job]:
        """Claim offered jobs."""
        return claim(self.database, offers, LEASE, GRACE)

    def finish(self, jobs: Sequence[Job]) -> None:
        """Finish jobs together."""
        finish_together(jobs)


def finish_together(jobs: Sequence[Job]) -> None:
    """Finish jobs as a worker does whose jobs are short."""
    deque(finish_all([(job, DONE) for job in jobs]), maxlen=0)


if __name__ == "__main__":
    main(Invited if "invited" in sys.argv[2:] else Resident)
