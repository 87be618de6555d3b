"""Alike: jobs of a bulk that differ only in payload and time, so that one statement can write them.

Nearly all jobs of a bulk are. Their options are checked and sent once, and a job costs little more than its payload.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from minutehand.errors import InvalidJobError
from minutehand.model.new_job import OPTIONS, NewJob, check_time, options_json
from minutehand.model.payload import encode

# Options by which a job is compared with others, or that only Python can evaluate.
KEYED = ("key", "every", "zone", "unique_while", "unique_for", "debounce", "debounce_max", "throttle")
SHARED = tuple(name for name in OPTIONS if name not in (*KEYED, "payload", "run_at", "delay", "on_conflict"))
# One statement is bounded in rows, and in characters of payloads.
MOST_ROWS = 1000
MOST_CHARACTERS = 1_000_000
# With more statements per job, COPY is faster.
FEWEST_ROWS = 20

_keyed = attrgetter(*KEYED)
_shared = attrgetter(*SHARED)
# Equal values of these may differ in JSON, as 1 and True do.
_identified = attrgetter("priority", "max_attempts", "personal", "retry", "on_dead")
_NO_KEY = (None,) * len(KEYED)
ON_CONFLICT = (None, "replace", "ignore", "raise", "merge")
Key = tuple[Any, ...]
Value = TypeVar("Value")


@dataclass
class Part:
    """Jobs of one statement, and the position of each in its chunk."""

    options: str = field(repr=False)
    places: list[int] = field(default_factory=list)
    payloads: list[str] = field(default_factory=list, repr=False)
    run_ats: list[datetime | None] = field(default_factory=list)
    delays: list[timedelta | None] = field(default_factory=list)

    def add(self, place: int, job: NewJob) -> int:
        """Add a job, and return the length of its payload; raise InvalidJobError for a value of the wrong type."""
        text, run_at, delay = encode(job.payload), job.run_at, job.delay
        if run_at is not None:
            check_time(run_at)
        if delay is not None:
            OPTIONS["delay"].check(delay, "delay")
        self.places.append(place)
        self.payloads.append(text)
        self.run_ats.append(run_at)
        self.delays.append(delay)
        return len(text)

    def parameters(self, ids: Sequence[UUID], since: datetime) -> dict[str, Any]:
        """Return the parameters of the statement, with the id of each place and the time of the bulk."""
        return {
            "options": self.options,
            "payloads": f"[{','.join(self.payloads)}]",
            "offsets": f"{{{','.join(map(str, self.places))}}}",
            "ids": f"{{{','.join([ids[place].hex for place in self.places])}}}",
            "run_ats": _unless_all_none(self.run_ats),
            "delays": _unless_all_none(self.delays),
            "since": since,
        }

    def visible(self, moment: datetime) -> Iterator[datetime]:
        """Yield when each job is visible, as the statement computes it from the time that it returned."""
        zone, now = moment.tzinfo, moment.astimezone(UTC)
        for place, run_at, delay in zip(self.places, self.run_ats, self.delays, strict=True):
            time = now if delay is None else now + delay
            if run_at is not None:
                time = max(run_at, now).astimezone(UTC)
            yield (time + timedelta(microseconds=place)).astimezone(zone)


@dataclass
class Group:
    """Jobs with the same options, each with its position in its chunk."""

    options: str = field(repr=False)
    jobs: list[tuple[int, NewJob]] = field(default_factory=list)

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each as soon as it is complete, so that the database can work in the meantime."""
        part, characters = Part(self.options), 0
        for place, job in self.jobs:
            characters += part.add(place, job)
            if len(part.places) == MOST_ROWS or characters > MOST_CHARACTERS:
                yield part
                part, characters = Part(self.options), 0
        if part.places:
            yield part


class _Groups:
    """The groups of a chunk, by the options of their jobs."""

    def __init__(self) -> None:
        self.found: list[tuple[Key, Group]] = []
        self._key: Key = ()
        self._group = Group("")

    def add(self, place: int, job: NewJob) -> None:
        key = _shared(job), *map(id, _identified(job))
        if key != self._key:
            self._key, self._group = key, self._of(key, job)
        self._group.jobs.append((place, job))

    def _of(self, key: Key, job: NewJob) -> Group:
        found = next((group for known, group in self.found if known == key), None)
        if found is None:
            given = {name: value for name in SHARED if (value := getattr(job, name)) is not None}
            found = Group(options_json(given))
            self.found.append((key, found))
        return found


def grouped(jobs: Sequence[NewJob | InvalidJobError]) -> list[Group] | None:
    """Return the groups of a chunk, or None if COPY must write it: groups are too small, or a job has a key or recurs.

    Raises InvalidJobError for an option of the wrong type, and for a job that was rejected before.
    """
    groups, most = _Groups(), max(2, len(jobs) // FEWEST_ROWS)
    for place, job in enumerate(jobs):
        if isinstance(job, InvalidJobError):
            raise job
        if _keyed(job) != _NO_KEY or job.on_conflict not in ON_CONFLICT or len(groups.found) > most:
            return None
        groups.add(place, job)
    return [group for _, group in groups.found]


def _unless_all_none(values: list[Value | None]) -> list[Value | None] | None:
    return None if all(value is None for value in values) else values
