"""The evidence for an answer, and the answer itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from minutehand.model.control import Control
from minutehand.model.row import Row

Reason = Literal[
    "finished",
    "running",
    "offered",
    "scheduled",
    "waiting",
    "retrying",
    "no_handler",
    "released",
    "read_only",
    "paused",
    "ending",
    "silent_dispatcher",
    "limited",
    "capacity",
    "rate",
    "breaker",
    "retry_after",
    "blocked",
    "in_order",
    "unserved",
    "throttled",
    "behind",
    "worker_stopped",
    "next_tick",
]
# Jobs before another one are counted up to this number.
COUNTED = 10_000
# Jobs of a kind that have failed and are tried again, among the latest unfinished ones, from which a reason names them.
MANY = 20
MAX_READ = 2000
# The schedule ticks once a minute.
SILENT_AFTER = timedelta(minutes=3)
UNSERVED_AFTER = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Why a job has not finished: one reason, in one sentence, with the evidence and the next step.

    `reason` is a stable name. `next_step` is a command or an instruction; it is empty if there is nothing to do.
    """

    job: UUID
    queue: str
    kind: str
    state: str
    reason: Reason
    sentence: str
    next_step: str
    evidence: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The jobs before a due job, up to 10,000, and how fast its queue was worked off in the last hour.

    `finished` jobs ended between `since` and `until`. `running` is whether a worker runs a job of the queue now.
    """

    ahead: int
    finished: int
    since: datetime | None
    until: datetime | None
    running: bool

    @property
    def estimate(self) -> timedelta | None:
        """How long the jobs before this one will take at the pace of the last hour; None if it is unknown."""
        if self.finished < 2 or self.since is None or self.until is None or self.ahead >= COUNTED:
            return None
        return (self.until - self.since) / (self.finished - 1) * self.ahead


@dataclass(frozen=True, kw_only=True)
class Limited:
    """The place of a due job among those of its queue under a reached limit, and the next free place of the limit.

    `ahead` jobs of its queue come first, or more of them if `is_cut`; `spans_queues` is whether other queues have jobs
    under the limit. A place is free after `must_end` jobs have ended. Job `id` is the last of these: it is expected to
    end at `expected`, after the `median` time of `jobs` jobs of its kind. If that is unknown, its lease or offer
    `ends`.
    """

    ahead: int = 0
    is_cut: bool = False
    spans_queues: bool = False
    must_end: int | None = None
    id: UUID | None = None
    kind: str | None = None
    claimed: datetime | None = None
    ends: datetime | None = None
    jobs: int | None = None
    median: timedelta | None = None
    expected: datetime | None = None


@dataclass(frozen=True)
class Failing:
    """A kind of the queue of which many jobs have failed and are tried again, and the type of most errors."""

    kind: str
    jobs: int
    type: str


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """When the dispatcher last ticked, the budget of the queue, if its offers lapsed at `lapsed`, and running jobs.

    `mode` is that of the last tick.

    `busy` jobs are offered or running, counted up to `capacity`. `longest` has been running the longest of them.
    """

    ticked: datetime | None
    budget: int | None
    lapsed: datetime | None
    capacity: int | None = None
    busy: int = 0
    longest: UUID | None = None
    longest_kind: str | None = None
    longest_since: datetime | None = None
    mode: str | None = None

    @property
    def is_full(self) -> bool:
        """Whether the jobs that are offered or running use up the capacity."""
        return bool(self.capacity) and self.busy >= (self.capacity or 0)


@dataclass(frozen=True, kw_only=True)
class Group:
    """The state of a job's group: how many of its jobs are offered or running, and what holds it back.

    No job starts before `until`: its breaker has been open since `opened`, after so many consecutive `failures`, or
    RetryAfter asked for `slow_until`. While the breaker is half open, one job at a time starts. The job `dead` blocks
    it. If the group runs in order, the job `first` comes first.
    """

    busy: int
    until: datetime | None
    half_open: bool
    failures: int
    opened: datetime | None
    slow_until: datetime | None
    dead: UUID | None
    dead_since: datetime | None
    first: UUID | None
    first_visible: datetime | None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known about a job and its surroundings. `dispatcher` is None if the role may not read it."""

    row: Row
    now: datetime
    read_only: bool
    pause: Control | None = None
    paused_by: str | None = None
    # Those that apply to the job, without those that another one takes the place of.
    limits: tuple[Control, ...] = ()
    rates: tuple[Control, ...] = ()
    group: Group | None = None
    line: Line | None = None
    limited: Limited | None = None
    failing: Failing | None = None
    # The ids and states of the predecessors that it waits for.
    awaited: tuple[tuple[UUID, str | None], ...] = ()
    dispatcher: Dispatcher | None = None

    @property
    def silent(self) -> bool:
        """Whether the dispatcher has not ticked for minutes, or never did, and no worker runs jobs of the queue."""
        if self.dispatcher is None or self.is_served:
            return False
        ticked = self.dispatcher.ticked
        if ticked is not None and self.dispatcher.mode == "sleep":
            # No tick is needed before the job is due.
            ticked = max(ticked, self.row.visible)
        return ticked is None or self.now - ticked > SILENT_AFTER

    @property
    def is_served(self) -> bool:
        """Whether a worker runs a job of the queue, or finished one in the last minutes."""
        line = self.line
        recent = line and line.until and self.now - line.until < UNSERVED_AFTER
        return bool(line and (line.running or recent))


# A reason, its sentence, the next step and the evidence.
Found = tuple[Reason, str, str, dict[str, Any]]
