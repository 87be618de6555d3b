"""A model of the queue in dictionaries, with which a state machine compares the real queue.

Time is in whole seconds, and passes only when the machine lets it pass.
"""

from dataclasses import dataclass, field
from uuid import UUID

from model_budget import BudgetModel
from model_job import ModelJob

FINISHED = ("done", "dead", "cancelled")
UPCOMING = ("scheduled", "due", "offered", "retrying")


@dataclass
class Model(BudgetModel):  # type: ignore[misc]
    """All jobs, and the time."""

    accepted: list[UUID] = field(default_factory=list)
    # Queues; "" is every queue.
    paused: set[str] = field(default_factory=set)
    limits: dict[str, int] = field(default_factory=dict)
    # The jobs that were written so far.
    writes: int = 0

    def states(self) -> dict[UUID, tuple[str, int]]:
        return {job_id: (job.state(self.now), job.attempts) for job_id, job in self.jobs.items()}

    def due(self, queue: str | None = None) -> dict[UUID, ModelJob]:
        """Return the jobs that may be offered or taken within the limits."""
        return {
            job_id: job
            for job_id, job in self.jobs.items()
            if job.state(self.now) == "due"
            and job.attempts < job.limit
            and queue in (None, job.queue)
            and not job.cancelling
            and not self.paused & {"", job.queue}
        }

    def room(self, queue: str, limit: int) -> int:
        """Return how many jobs of a queue may be offered or taken, up to `limit`."""
        room = min(limit, self.limits.get(queue, limit + self.busy(queue)) - self.busy(queue))
        return max(0, min(room, self.room_of_all(room)))

    def room_of_all(self, limit: int) -> int:
        """Return how many jobs of all queues may be offered or taken, up to `limit`."""
        return max(0, min(limit, self.limits.get("", limit + self.busy()) - self.busy()))

    def pause(self, queue: str) -> None:
        """Void open offers. A lapsed claim is not changed."""
        self.paused.add(queue)
        for job in self.jobs.values():
            if queue in ("", job.queue) and job.open_offer:
                job.visible = min(job.visible, self.now)
                job.offer_ack, job.offered_since_claim, job.offered_before = None, False, False

    def cancel_lapsed(self) -> None:
        """End jobs with a cancel request whose claim lapsed."""
        for job in self.jobs.values():
            if job.state(self.now) == "due" and job.cancelling:
                job.end("cancelled", self.now)

    def busy(self, queue: str | None = None) -> int:
        return sum(
            job.state(self.now) in ("offered", "running") and queue in (None, job.queue)
            for job in self.jobs.values()
        )

    def upcoming(self, queue: str, key: str | None) -> UUID | None:
        """Return the upcoming job of a key."""
        jobs = [
            i for i, job in self.jobs.items() if key and (job.queue, job.key) == (queue, key) and job.upcoming
        ]
        assert len(jobs) <= 1
        return jobs[0] if jobs else None

    def running(self, queue: str, key: str | None) -> set[UUID]:
        """Return the claimed, unfinished jobs of a key."""
        return {
            i
            for i, job in self.jobs.items()
            if key and (job.queue, job.key) == (queue, key) and not job.ended and job.claim
        }

    def enqueue(
        self, queue: str, key: str | None, mode: str, new_job: ModelJob, unique_while_running: bool = False
    ) -> str:
        """Return the outcome of an enqueue, and replace or merge. The caller adds a created job."""
        existing = self.upcoming(queue, key)
        if existing is None:
            if unique_while_running and self.running(queue, key):
                return "raised" if mode == "raise" else "ignored"
            for job_id in self.running(queue, key):
                self.jobs[job_id].superseded = True
            return "created"
        if mode == "replace":
            self.add(existing, new_job)
        if mode == "merge":
            self.jobs[existing].attempts, self.jobs[existing].number = 0, new_job.number
            self.add(existing, self.jobs[existing])
        return {"replace": "replaced", "ignore": "ignored", "raise": "raised", "merge": "merged"}[mode]

    def add(self, job_id: UUID, job: ModelJob) -> None:
        """Add a job that was written now."""
        self.writes += 1
        self.jobs[job_id], job.written = job, self.writes

    def follow(self, job_id: UUID, next_id: UUID | None) -> None:
        """Add the next occurrence of a job that has just ended, if it has one."""
        following = self.jobs[job_id].next_occurrence(self.now)
        assert (following is None) == (next_id is None)
        if following is not None and next_id is not None:
            assert self.upcoming(following.queue, following.key) is None
            self.add(next_id, following)

    def reap(self) -> set[UUID]:
        """End due jobs without attempts left."""
        reaped = {
            i for i, job in self.jobs.items() if job.state(self.now) == "due" and job.attempts >= job.limit
        }
        for job_id in reaped:
            self.jobs[job_id].end("dead", self.now)
        return reaped

    def offer(self, job_id: UUID, ack: UUID, ttl: int) -> None:
        job = self.jobs[job_id]
        job.offered_before = job.offer_ack is not None and job.claim is None
        job.offer_ack, job.visible, job.offered_since_claim = ack, self.now + ttl, True

    def claims(self, job_id: UUID, ack: UUID) -> bool:
        """Whether the ack of an event is valid."""
        job = self.jobs.get(job_id)
        if job is None or job.ended or job.offer_ack != ack:
            return False
        return not self.void(job)

    def void(self, job: ModelJob) -> bool:
        """Whether an offer or a claim has lapsed where a limit is set."""
        return job.visible <= self.now and bool(self.limits)

    def claim(self, job_id: UUID, ack: UUID, lease: int) -> None:
        job = self.jobs[job_id]
        job.free(self.now + lease)
        job.claim, job.attempts = ack, job.attempts + 1

    def extend(self, job_id: UUID, ack: UUID, lease: int) -> bool:
        job = self.jobs.get(job_id)
        if job is None or job.claim != ack or job.offer_ack or self.void(job):
            return False
        job.visible = self.now + lease
        return True

    def finish(self, job_id: UUID, ack: UUID, outcome: str, delay: int) -> str:
        """Return the outcome of a finish, which is lost unless the claim is still valid."""
        job = self.jobs.get(job_id)
        if job is None or job.ended or job.claim != ack:
            return "lost"
        self.accepted.append(ack)
        if outcome == "failed" and job.attempts >= job.limit:
            outcome = "dead"
        if outcome not in FINISHED and job.cancelling:
            outcome = "cancelled"
        if outcome in FINISHED:
            job.end(outcome, self.now)
            return outcome
        if job.superseded:
            job.end("cancelled", self.now)
            return "superseded"
        job.free(self.now + delay)
        job.attempts -= outcome != "failed"
        return {"failed": "retrying", "snoozed": "snoozed", "released": "released"}[outcome]

    def change(self, verb: str, job_id: UUID, visible: int) -> str:
        """Return the outcome of an operation on a job, and apply it."""
        job = self.jobs.get(job_id)
        if job is None:
            return "absent"
        state = job.state(self.now)
        if verb == "cancel_running" and state == "running":
            job.cancelling = True
            return "requested"
        verb = "cancel" if verb == "cancel_running" else verb
        fits = {"retry": ("dead", "cancelled"), "replay": FINISHED}.get(verb, UPCOMING)
        existing = self.upcoming(job.queue, job.key)
        moves = verb not in ("cancel", "delete") and not (verb == "edit" and job.claim is None)
        if state not in fits or (moves and existing not in (None, job_id)):
            return "refused"
        if verb in ("retry", "replay") and self.running(job.queue, job.key):
            return "refused"
        if verb in ("promote", "reschedule", "edit") and job.superseded:
            return "refused"
        if verb in ("promote", "reschedule", "edit") and (job.attempts >= job.limit or job.cancelling):
            # No attempt is left, or the job has a cancel request.
            return "refused"
        self._apply(verb, job_id, job, visible)
        return "changed"

    def _apply(self, verb: str, job_id: UUID, job: ModelJob, visible: int) -> None:
        """Apply an operation. The caller adds the job of a replay."""
        match verb:
            case "cancel":
                job.end("cancelled", self.now)
            case "delete":
                del self.jobs[job_id]
            case "edit":
                job.priority = visible
                if job.claim is not None:
                    job.free(job.visible)
            case "promote" | "reschedule" | "retry":
                if verb == "retry":
                    job.recurs = job.recurs and job.ended == "cancelled" and not self._has_later(job)
                    job.superseded = False
                job.ended = None
                job.cancelling = job.cancelling and verb != "retry"
                job.attempts = 0 if verb == "retry" else job.attempts
                job.free(visible)

    def _has_later(self, job: ModelJob) -> bool:
        """Whether the key of a job was enqueued, or recurred, after it."""
        return job.key is not None and any(
            (other.queue, other.key) == (job.queue, job.key) and other.written > job.written
            for other in self.jobs.values()
        )

    def purge(self, older: int) -> int:
        """Delete jobs that were finished at least `older` seconds ago."""
        old = [i for i, job in self.jobs.items() if job.ended and job.ended_at <= self.now - older]
        for job_id in old:
            del self.jobs[job_id]
        return len(old)
