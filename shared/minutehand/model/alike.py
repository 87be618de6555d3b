"""Alike: jobs of a bulk that differ only in payload and time, so that one statement can write them.

Nearly all jobs of a bulk are. Their options are checked and sent once, and a job costs little more than its payload.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from minutehand.errors import InvalidJobError
from minutehand.model.keyed import KEYED, ON_CONFLICT
from minutehand.model.new_job import OPTIONS, NewJob, check_time, options_json
from minutehand.model.payload import encode

SHARED = tuple(name for name in OPTIONS if name not in (*KEYED, "payload", "run_at", "delay", "on_conflict"))
# One statement is bounded in rows, and in characters of payloads.
MOST_ROWS = 1000
MOST_CHARACTERS = 1_000_000
# With more statements per job, COPY is faster.
FEWEST_ROWS = 20

# Of one job, and not of its group.
OWN = frozenset({"payload", "run_at", "delay"})
# Equal values of these may differ in JSON, as 1 and True do.
IDENTIFIED = ("priority", "max_attempts", "personal", "retry", "on_dead")
# None is that of the bulk.
ACCEPTED = {None, *ON_CONFLICT}
MICROSECOND = timedelta(microseconds=1)
Options = dict[str, Any]
Value = TypeVar("Value")


@dataclass
class Part:
    """Jobs of one statement, and the position of each in its chunk. `times` are those of jobs that have one."""

    options: str = field(repr=False)
    places: list[int] = field(default_factory=list)
    payloads: list[str] = field(default_factory=list, repr=False)
    times: dict[int, tuple[datetime | None, timedelta | None]] = field(default_factory=dict)

    def add(self, place: int, job: NewJob) -> int:
        """Add a job, and return the length of its payload; raise InvalidJobError for a value of the wrong type."""
        text, run_at, delay = encode(job.payload), job.run_at, job.delay
        if run_at is not None or delay is not None:
            check_time(run_at)
            if delay is not None:
                OPTIONS["delay"].check(delay, "delay")
            self.times[place] = run_at, delay
        self.places.append(place)
        self.payloads.append(text)
        return len(text)

    def parameters(self, ids: Sequence[UUID], since: datetime) -> dict[str, Any]:
        """Return the parameters of the statement, with the id of each job and the time of the bulk."""
        times = [self.times.get(place, (None, None)) for place in self.places] if self.times else []
        return {
            "options": self.options,
            "payloads": f"[{','.join(self.payloads)}]",
            "offsets": f"{{{','.join(map(str, self.places))}}}",
            # As `hex` does, without a call for each.
            "ids": f"{{{','.join([f'{each.int:032x}' for each in ids])}}}",
            "run_ats": _unless_all_none([run_at for run_at, _ in times]),
            "delays": _unless_all_none([delay for _, delay in times]),
            "since": since,
        }

    def visible(self, moment: datetime) -> Iterator[datetime]:
        """Yield when each job is visible, as the statement computes it from the time that it returned."""
        zone, now = moment.tzinfo, moment.astimezone(UTC)
        last = (now + MICROSECOND * self.places[-1]).astimezone(zone)
        if not (self.times or moment.fold or last.fold) and last.utcoffset() == moment.utcoffset():
            # Without a conversion for each, because the clock of the zone does not change in this time.
            yield from [moment + MICROSECOND * place for place in self.places]
            return
        for place in self.places:
            time = now
            if place in self.times:
                run_at, delay = self.times[place]
                time = (
                    max(run_at, now).astimezone(UTC) if run_at is not None else now + (delay or timedelta())
                )
            yield (time + MICROSECOND * place).astimezone(zone)


@dataclass
class Group:
    """Jobs with the same options, and the position of each in its chunk."""

    options: str = field(repr=False)
    places: list[int] = field(default_factory=list)
    jobs: list[NewJob] = field(default_factory=list)

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each as soon as it is complete, so that the database can work in the meantime."""
        part, characters = Part(self.options), 0
        for place, job in zip(self.places, self.jobs, strict=True):
            characters += part.add(place, job)
            if len(part.places) == MOST_ROWS or characters > MOST_CHARACTERS:
                yield part
                part, characters = Part(self.options), 0
        if part.places:
            yield part


class _Groups:
    """The groups of a chunk, by the options of their jobs."""

    def __init__(self, most: int) -> None:
        """Find at most this many groups."""
        self._most = most
        self._found: list[tuple[Options, Group]] = []
        self._options: Options | None = None
        # Whether equal options may still differ.
        self._strict = False

    @property
    def groups(self) -> list[Group]:
        """The groups in the order of their first jobs."""
        return [group for _, group in self._found]

    def add(self, place: int, job: NewJob) -> bool:
        """Add a job. Return False if no further group can be made, or if the job depends on others."""
        given = {name: value for name, value in vars(job).items() if name not in OWN and value is not None}
        # The options of most jobs are those of the job before.
        is_same = given == self._options and (not self._strict or _are_same(self._options or {}, given))
        if not is_same and not self._select(given):
            return False
        self._group.places.append(place)
        self._group.jobs.append(job)
        return True

    def _select(self, given: Options) -> bool:
        """Continue with the group of these options."""
        on_conflict = given.get("on_conflict")
        group = next((group for known, group in self._found if _are_same(known, given)), None)
        if group is None:
            if not given.keys().isdisjoint(KEYED) or on_conflict not in ACCEPTED:
                return False
            if len(self._found) > self._most:
                return False
            group = Group(options_json({name: given[name] for name in SHARED if name in given}))
            self._found.append((given, group))
        self._options, self._group = given, group
        self._strict = not given.keys().isdisjoint((*IDENTIFIED, "group"))
        return True


def grouped(jobs: Sequence[NewJob | InvalidJobError]) -> list[Group] | None:
    """Return the groups of a chunk, or None if COPY must write it: groups are too small, or a job has a key or recurs.

    Raises InvalidJobError for an option of the wrong type, and for a job that was rejected before.
    """
    groups = _Groups(max(2, len(jobs) // FEWEST_ROWS))
    for place, job in enumerate(jobs):
        if isinstance(job, InvalidJobError):
            raise job
        if not groups.add(place, job):
            return None
    return groups.groups


def _are_same(known: Options, given: Options) -> bool:
    # Each job may have its own copy of a group. The invalid True equals 1, but differs in its text.
    return (
        known == given
        and all(known.get(name) is given.get(name) for name in IDENTIFIED)
        and repr(known.get("group")) == repr(given.get("group"))
    )


def _unless_all_none(values: list[Value | None]) -> list[Value | None] | None:
    return None if all(value is None for value in values) else values
