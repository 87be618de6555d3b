"""A job of the model."""

from dataclasses import dataclass
from uuid import UUID

PERIOD = 600


@dataclass
class ModelJob:
    """A job as the model knows it. Times are seconds."""

    queue: str
    key: str | None
    priority: int
    limit: int
    visible: int
    attempts: int = 0
    # Valid for one claim.
    offer_ack: UUID | None = None
    # Valid for one finish, until another worker claims the job.
    claim: UUID | None = None
    offered_since_claim: bool = False
    # An earlier offer was not claimed.
    offered_before: bool = False
    # The job ends at its next check.
    cancelling: bool = False
    # Whether it recurs, the time of this occurrence, and the number of the enqueue that it comes from.
    recurs: bool = False
    nominal: int = 0
    number: int = 0
    # When it was written, as a number that counts writes.
    written: int = 0
    # The key was enqueued while it ran.
    superseded: bool = False
    ended: str | None = None
    ended_at: int = 0

    @property
    def upcoming(self) -> bool:
        return self.ended is None and self.claim is None

    @property
    def current(self) -> bool:
        return self.ended is None and not self.superseded

    @property
    def open_offer(self) -> bool:
        return (
            self.ended is None and bool(self.offer_ack) and (self.claim is None or self.offered_since_claim)
        )

    @property
    def first_offer(self) -> bool:
        return self.open_offer and self.claim is None and not self.offered_before

    def state(self, now: int) -> str:
        if self.ended:
            return self.ended
        if self.visible <= now:
            return "due"
        if self.open_offer:
            return "offered"
        if self.claim:
            return "running"
        return "retrying" if self.attempts else "scheduled"

    def free(self, visible: int) -> None:
        """Remove the offer and the claim, and set the time at which the job is due."""
        self.visible = visible
        self.offer_ack, self.claim, self.offered_since_claim, self.offered_before = None, None, False, False

    def end(self, how: str, now: int) -> None:
        self.ended, self.ended_at = how, now
        self.offer_ack, self.claim = None, None

    def next_occurrence(self, now: int) -> "ModelJob | None":
        """Return the next occurrence, if the job recurs and its recurrence has not ended."""
        if not self.recurs or self.superseded or self.cancelling:
            return None
        nominal = self.nominal + PERIOD * max(1, (now - self.nominal) // PERIOD + 1)
        return ModelJob(
            self.queue,
            self.key,
            self.priority,
            self.limit,
            nominal,
            recurs=True,
            nominal=nominal,
            number=self.number,
        )
