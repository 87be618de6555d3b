"""What the sessions of a run did, with the times at which each call began and had returned, by one clock."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, TypeVar
from uuid import UUID

Place = tuple[str, str]
Result = TypeVar("Result")


class Span(NamedTuple):
    """A call. Its effect took place between these times."""

    began: float
    ended: float


def timed(call: Callable[[], Result]) -> tuple[Result, Span]:
    """Call, and return the result with the span of the call."""
    began = monotonic()
    result = call()
    return result, Span(began, monotonic())


@dataclass(frozen=True)
class Known:
    """A job when it was enqueued, and its place in that order."""

    place: Place
    number: int
    after: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class End:
    """The end of an attempt: `retrying`, or the end of the job. With `held`, its group had to wait."""

    span: Span
    ending: str
    held: bool = False


class Run(NamedTuple):
    """An attempt, from the offer or the claim to its end."""

    job: UUID
    start: Span
    end: End


@dataclass
class Ledger:
    """Filled by many threads; each only appends."""

    jobs: dict[UUID, Known] = field(default_factory=dict)
    starts: dict[UUID, list[Span]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[UUID, list[End]] = field(default_factory=lambda: defaultdict(list))
    # When the test ended the wait of a group.
    lifts: dict[Place, list[Span]] = field(default_factory=lambda: defaultdict(list))

    def add(self, job: UUID, queue: str, group: str, after: Sequence[UUID] = ()) -> None:
        self.jobs[job] = Known((queue, group), len(self.jobs), tuple(after))

    def runs(self) -> dict[Place, list[Run]]:
        """Return the attempts of each group, by the time of their starts."""
        found: dict[Place, list[Run]] = defaultdict(list)
        for job, starts in self.starts.items():
            ends = sorted(self.ends[job], key=lambda end: end.span)
            assert len(starts) == len(ends), f"job {job}: {len(starts)} starts, {len(ends)} ends"
            for start, end in zip(sorted(starts), ends, strict=True):
                found[self.jobs[job].place].append(Run(job, start, end))
        return {place: sorted(runs, key=lambda run: run.start) for place, runs in found.items()}
