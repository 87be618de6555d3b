"""What the sessions of a run did, with the times at which each call began and had returned, by one clock."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

Place = tuple[str, str, str]
Result = TypeVar("Result")
# What ends a job.
FINAL = ("done", "dead", "cancelled", "superseded")


class Span(NamedTuple):
    """A call. Its effect took place between these times."""

    began: float
    ended: float


def timed(call: Callable[[], Result]) -> tuple[Result, Span]:
    """Call, and return the result with the span of the call."""
    began = monotonic()
    result = call()
    return result, Span(began, monotonic())


@dataclass(frozen=True, kw_only=True)
class Known:
    """A job when it was enqueued, and its place in that order. With `added`, another job or a batch enqueued it."""

    queue: str
    group: str | None = None
    tenant: str = ""
    key: str | None = None
    batch: UUID | None = None
    after: tuple[UUID, ...] = ()
    after_failure: str | None = None
    added: bool = False
    number: int = 0

    @property
    def place(self) -> Place | None:
        """The group: its queue, tenant and name."""
        return None if self.group is None else (self.queue, self.tenant, self.group)


class End(NamedTuple):
    """The answer to a finish: `retrying`, `lost`, or the end of the job. With `held`, the group had to wait."""

    span: Span
    ending: str
    held: bool = False


@dataclass(eq=False)
class Attempt:
    """A start of a job, by an offer or a take, and how it ended.

    `dropped` is when the offer was made to lapse, and `lapsed` when the claim was.
    """

    job: UUID
    start: Span
    claims: list[Span] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    dropped: Span | None = None
    lapsed: Span | None = None

    @property
    def accepted(self) -> End | None:
        """The end that was not lost."""
        return next((end for end in self.ends if end.ending != "lost"), None)


class Run(NamedTuple):
    """An attempt from its start to its end; `until` is the time at which it lapsed, if it did."""

    job: UUID
    start: Span
    end: End
    until: Span


class Callback(NamedTuple):
    """A job that a batch enqueued when it ended, with its counts."""

    job: UUID
    kind: str
    counts: dict[str, Any]


@dataclass
class Ledger:
    """Filled by many threads; each only appends."""

    jobs: dict[UUID, Known] = field(default_factory=dict)
    # By the ack of the offer, or that of the claim of a job that was taken.
    attempts: dict[UUID, Attempt] = field(default_factory=dict)
    # When the test ended the wait of a group.
    lifts: dict[Place, list[Span]] = field(default_factory=lambda: defaultdict(list))
    batches: list[UUID] = field(default_factory=list)
    callbacks: dict[UUID, list[Callback]] = field(default_factory=lambda: defaultdict(list))

    def attempts_of(self) -> dict[UUID, list[Attempt]]:
        """Return the attempts of each job, by the time of their starts."""
        found: dict[UUID, list[Attempt]] = {job: [] for job in self.jobs}
        for attempt in sorted(self.attempts.values(), key=lambda each: each.start):
            found[attempt.job].append(attempt)
        return found

    def runs(self) -> list[Run]:
        """Return the attempts by the time of their starts."""
        runs = [run for attempts in self.attempts_of().values() for run in _runs(attempts)]
        return sorted(runs, key=lambda run: run.start)

    def by_group(self) -> dict[Place, list[Run]]:
        """Return the attempts of each group."""
        found: dict[Place, list[Run]] = defaultdict(list)
        for run in self.runs():
            if place := self.jobs[run.job].place:
                found[place].append(run)
        return found


def _runs(attempts: list[Attempt]) -> Iterator[Run]:
    """Yield the runs of a job. An offer that nobody claimed ended with its job, or at the end of a late attempt."""
    accepted = sorted(each.accepted for each in attempts if each.accepted)
    for attempt in attempts:
        lapse = attempt.dropped or attempt.lapsed
        later = [end for end in accepted if end.span.ended >= attempt.start.began]
        voided = End(later[0].span if later else Span(inf, inf), "void")
        end = attempt.accepted or (End(lapse, "lapsed") if lapse else voided)
        yield Run(attempt.job, attempt.start, end, min(end.span, lapse or end.span))
