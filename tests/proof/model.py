"""The queue as its promise says it should be, in dictionaries: what a state machine compares the real one with.

Time is whole seconds that pass only when somebody lets them. A ticket stands for an ack.
"""

from dataclasses import dataclass, field
from uuid import UUID

FINISHED = ("done", "dead", "cancelled")
UPCOMING = ("scheduled", "due", "offered", "retrying")


@dataclass
class Wanted:
    """What the model knows of a job."""

    queue: str
    key: str | None
    priority: int
    limit: int
    visible: int
    attempts: int = 0
    invitation: UUID | None = None  # good for one claim
    claim: UUID | None = None  # good for one completion, until another worker has claimed
    invited_since: bool = False
    invited_before: bool = False  # and did not come
    cancelling: bool = False  # it is to end at its next check
    ended: str | None = None
    ended_at: int = 0

    @property
    def upcoming(self) -> bool:
        return self.ended is None and self.claim is None

    @property
    def open_invitation(self) -> bool:
        return self.ended is None and bool(self.invitation) and (self.claim is None or self.invited_since)

    @property
    def first_invitation(self) -> bool:
        return self.open_invitation and self.claim is None and not self.invited_before

    def state(self, now: int) -> str:
        if self.ended:
            return self.ended
        if self.visible <= now:
            return "due"
        if self.open_invitation:
            return "offered"
        if self.claim:
            return "running"
        return "retrying" if self.attempts else "scheduled"

    def free(self, visible: int) -> None:
        """Nobody has it, and it is due at some moment."""
        self.visible = visible
        self.invitation, self.claim, self.invited_since, self.invited_before = None, None, False, False

    def end(self, how: str, now: int) -> None:
        self.ended, self.ended_at = how, now
        self.invitation, self.claim = None, None


@dataclass
class Model:
    """All jobs, and the moment."""

    now: int = 0
    jobs: dict[UUID, Wanted] = field(default_factory=dict)
    accepted: list[UUID] = field(default_factory=list)
    ticked: int = -1
    paused: set[str] = field(default_factory=set)  # queues; "" is every queue
    limits: dict[str, int] = field(default_factory=dict)
    budgets: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # what the last lapse left, and when it was

    def budget(self, capacity: int) -> dict[str, int]:
        """How many of a queue may be offered or running, where offers lapsed; called once a tick."""
        told = {}
        for queue in {job.queue for job in self.jobs.values()} | set(self.budgets):
            vain = sum(
                job.queue == queue and self.ticked < job.visible <= self.now and job.first_invitation
                for job in self.jobs.values()
            )
            had = self._had(queue, capacity)
            left = (
                max(1, capacity // 20, had - vain if vain * 10 < had * 9 else had // 2)
                if vain * 50 > had
                else had
            )
            if vain * 50 > had:
                self.budgets[queue] = left, self.now
            if vain or left < capacity:
                told[queue] = left
        self.ticked = self.now
        return told

    def _had(self, queue: str, capacity: int) -> int:
        if queue not in self.budgets:
            return capacity
        left, lapsed = self.budgets[queue]
        minutes = (self.now - lapsed) // 60
        return min(capacity, left + (2 ** min(minutes - 9, 20) - 1 if minutes >= 10 else 0))

    def states(self) -> dict[UUID, tuple[str, int]]:
        return {job_id: (job.state(self.now), job.attempts) for job_id, job in self.jobs.items()}

    def due(self, queue: str | None = None) -> dict[UUID, Wanted]:
        """What may be offered or taken, as far as there is room for it."""
        return {
            job_id: job
            for job_id, job in self.jobs.items()
            if job.state(self.now) == "due"
            and job.attempts < job.limit
            and queue in (None, job.queue)
            and not job.cancelling
            and not self.paused & {"", job.queue}
        }

    def room(self, queue: str, most: int) -> int:
        """How many of a queue may be offered or taken, of so many at the most."""
        room = min(most, self.limits.get(queue, most + self.busy(queue)) - self.busy(queue))
        return max(0, min(room, self.room_of_all(room)))

    def room_of_all(self, most: int) -> int:
        """How many of all queues together, by the limit that is about all of them."""
        return max(0, min(most, self.limits.get("", most + self.busy()) - self.busy()))

    def pause(self, queue: str) -> None:
        """Take back what is on offer; a lapsed claim is as it was."""
        self.paused.add(queue)
        for job in self.jobs.values():
            if queue in ("", job.queue) and job.open_invitation:
                job.visible = min(job.visible, self.now)
                job.invitation, job.invited_since, job.invited_before = None, False, False

    def end_asked(self) -> None:
        """End what was to end, and whose worker never came to a check."""
        for job in self.jobs.values():
            if job.state(self.now) == "due" and job.cancelling:
                job.end("cancelled", self.now)

    def busy(self, queue: str | None = None) -> int:
        return sum(
            job.state(self.now) in ("offered", "running") and queue in (None, job.queue)
            for job in self.jobs.values()
        )

    def upcoming(self, queue: str, key: str | None) -> UUID | None:
        """The job that a key names."""
        named = [
            i for i, job in self.jobs.items() if key and (job.queue, job.key) == (queue, key) and job.upcoming
        ]
        assert len(named) <= 1
        return named[0] if named else None

    def running(self, queue: str, key: str | None) -> set[UUID]:
        """Jobs of a key that were claimed, and whose claims nobody has settled."""
        return {
            i
            for i, job in self.jobs.items()
            if key and (job.queue, job.key) == (queue, key) and not job.ended and job.claim
        }

    def enqueue(self, queue: str, key: str | None, mode: str, wanted: Wanted, alone: bool = False) -> str:
        """What becomes of an enqueue; a replacement takes its place at once, a new job when its id is known."""
        standing = self.upcoming(queue, key)
        if standing is None:
            kept_out = alone and self.running(queue, key)
            return "created" if not kept_out else "raised" if mode == "raise" else "ignored"
        if mode == "replace":
            self.jobs[standing] = wanted
        if mode == "merge":
            self.jobs[standing].attempts = 0
        return {"replace": "replaced", "ignore": "ignored", "raise": "raised", "merge": "merged"}[mode]

    def bury(self) -> set[UUID]:
        """End what has no attempt left and came due all the same."""
        buried = {
            i for i, job in self.jobs.items() if job.state(self.now) == "due" and job.attempts >= job.limit
        }
        for job_id in buried:
            self.jobs[job_id].end("dead", self.now)
        return buried

    def offer(self, job_id: UUID, ack: UUID, ttl: int) -> None:
        job = self.jobs[job_id]
        job.invited_before = job.invitation is not None and job.claim is None
        job.invitation, job.visible, job.invited_since = ack, self.now + ttl, True

    def claims(self, job_id: UUID, ack: UUID) -> bool:
        """Whether an event's ack is still good."""
        job = self.jobs.get(job_id)
        return job is not None and job.ended is None and job.invitation == ack

    def claim(self, job_id: UUID, ack: UUID, lease: int) -> None:
        job = self.jobs[job_id]
        job.free(self.now + lease)
        job.claim, job.attempts = ack, job.attempts + 1

    def extend(self, job_id: UUID, ack: UUID, lease: int) -> bool:
        job = self.jobs.get(job_id)
        if job is None or job.claim != ack or job.invitation:
            return False
        job.visible = self.now + lease
        return True

    def finish(self, job_id: UUID, ack: UUID, outcome: str, delay: int) -> str:
        """What becomes of a worker's word: nothing, unless the claim is still its own."""
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
        if self.upcoming(job.queue, job.key):
            job.end("cancelled", self.now)
            return "superseded"
        job.free(self.now + delay)
        job.attempts -= outcome != "failed"
        return {"failed": "retrying", "snoozed": "snoozed", "released": "released"}[outcome]

    def change(self, verb: str, job_id: UUID, visible: int) -> str:
        """What becomes of something that a person does to a job."""
        job = self.jobs.get(job_id)
        if job is None:
            return "absent"
        state = job.state(self.now)
        if verb == "cancel_running" and state == "running":
            job.cancelling = True
            return "requested"
        verb = "cancel" if verb == "cancel_running" else verb
        fits = {"retry": ("dead", "cancelled"), "replay": FINISHED}.get(verb, UPCOMING)
        standing = self.upcoming(job.queue, job.key)
        moves = verb not in ("cancel", "delete") and not (verb == "edit" and job.claim is None)
        if state not in fits or (moves and standing not in (None, job_id)):
            return "refused"
        if verb in ("promote", "reschedule", "edit") and (job.attempts >= job.limit or job.cancelling):
            return "refused"  # its last worker never came back, or it is to end
        self._make(verb, job_id, job, visible)
        return "changed"

    def _make(self, verb: str, job_id: UUID, job: Wanted, visible: int) -> None:
        """Make a change that nothing is in the way of; of a replay the clone's id is not known yet."""
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
                job.ended = None
                job.cancelling = job.cancelling and verb != "retry"
                job.attempts = 0 if verb == "retry" else job.attempts
                job.free(visible)

    def purge(self, older: int) -> int:
        """Forget what was finished so long ago."""
        old = [i for i, job in self.jobs.items() if job.ended and job.ended_at <= self.now - older]
        for job_id in old:
            del self.jobs[job_id]
        return len(old)
