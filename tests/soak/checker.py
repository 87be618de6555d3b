"""An independent checker: it compares the enqueued jobs with the handlers' records.

It uses no code of the library. Of the library's tables, it reads only the final rows of jobs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import namedtuple_row

from tests.soak import rules
from tests.soak.load import FAILING_ATTEMPTS, LIMITS, MAX_ATTEMPTS, PERIOD, SCHEDULES

ATTEMPTS = "select *, least(ended, lease_ends) as free from soak.attempts order by number"
JOBS = """select id, tenant, queue, key, deleted, failed, attempts, nominal, schedule, enqueued,
                 payload ->> 'name' as payload
            from minutehand.jobs"""


Check = Callable[[], Iterator[str]]


@dataclass(frozen=True)
class Violation:
    """A promise that was broken, and the evidence."""

    promise: str
    evidence: str

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.promise}: {self.evidence}"


class Checker:
    """The records of one run."""

    def __init__(self, url: str) -> None:
        """Read all records."""
        with psycopg.connect(url, row_factory=namedtuple_row) as connection:
            self.enqueued: list[Any] = connection.execute(
                "select * from soak.enqueued order by enqueued"
            ).fetchall()
            attempts: list[Any] = connection.execute(ATTEMPTS).fetchall()
            self.effects: list[Any] = connection.execute("select * from soak.effects").fetchall()
            self.endings: list[Any] = connection.execute("select * from soak.endings").fetchall()
            self.batches: list[Any] = connection.execute("select * from soak.batches").fetchall()
            jobs: list[Any] = connection.execute(JOBS).fetchall()
        self.jobs = {job.id: job for job in jobs}
        self.attempts = attempts
        self.of_job: dict[UUID, list[Any]] = defaultdict(list)
        for each in attempts:
            self.of_job[each.job].append(each)

    def violations(self) -> Iterator[Violation]:
        """Yield every promise that was broken."""
        for check in self.checks():
            promise = check.__name__.strip("_").replace("_", " ")
            for evidence in check():
                yield Violation(promise, evidence)

    def checks(self) -> list[Check]:
        """Return the checks, whose names are the promises."""
        return [
            self._nothing_is_lost,
            self._each_job_ends_once,
            self._effects_match_endings,
            self._attempts_have_one_owner,
            self._attempts_are_bounded,
            self._nothing_starts_early,
            self._limits_hold,
            self._keys_deliver_the_last_payload,
            self._tenants_are_separate,
            self._recurrences_are_regular,
            self._recurrences_follow_the_last_enqueue,
            self._schedules_fire_each_occurrence_once,
        ]

    def _nothing_is_lost(self) -> Iterator[str]:
        for new in self.enqueued:
            job = self.jobs.get(new.id)
            if job is None:
                yield f"{new.payload}: its row is gone"
            elif job.deleted is None and not new.recurring:
                yield f"{new.payload}: not finished after {job.attempts} attempts"

    def _each_job_ends_once(self) -> Iterator[str]:
        times: dict[UUID, int] = defaultdict(int)
        for ending in self.endings:
            times[ending.job] += 1
        for id, count in times.items():
            if count > 1:
                yield f"{id}: {count} endings"

    def _effects_match_endings(self) -> Iterator[str]:
        effects: dict[UUID, list[Any]] = defaultdict(list)
        for effect in self.effects:
            effects[effect.job].append(effect)
        for job in self.jobs.values():
            found, done = effects[job.id], job.deleted is not None and not job.failed
            if len(found) != done:
                yield f"{job.payload}: {len(found)} effects, done is {done}"
            elif found and found[0].attempt != (last := max(self._attempts_of(job))):
                yield f"{job.payload}: attempt {found[0].attempt} finished it after attempt {last} had started"

    def _attempts_of(self, job: Any) -> Iterator[int]:
        """Yield the attempts at the job's last payload."""
        return (each.attempt for each in self.of_job[job.id] if each.payload == job.payload)

    def _attempts_have_one_owner(self) -> Iterator[str]:
        for id, attempts in self.of_job.items():
            # A job that waits for its retry is replaced in place, and its attempts count from 1 again.
            numbers = [(each.payload, each.attempt) for each in attempts]
            if len({*numbers}) < len(numbers):
                yield f"{id}: two workers started the same attempt: {numbers}"
            # A worker that was frozen between its claim and its handler owns nothing any more.
            owners = [each for each in attempts if each.started < each.lease_ends]
            for first, second in pairwise(owners):
                if second.started < first.free:
                    yield f"{id}: attempt {second.attempt} started {first.free - second.started} too early"

    def _attempts_are_bounded(self) -> Iterator[str]:
        for new in self.enqueued:
            most = FAILING_ATTEMPTS if new.fails else MAX_ATTEMPTS
            if (job := self.jobs.get(new.id)) and job.attempts > most:
                yield f"{new.payload}: {job.attempts} attempts of {most}"
            if new.fails and job and job.deleted and not (job.failed and job.attempts == most):
                yield f"{new.payload}: failed is {job.failed} after {job.attempts} attempts"

    def _nothing_starts_early(self) -> Iterator[str]:
        for new in self.enqueued:
            for each in self.of_job[new.id]:
                # Earlier attempts may be those of the job that this one replaced in place.
                if new.not_before and each.payload == new.payload and each.started < new.not_before:
                    yield f"{new.payload}: {new.not_before - each.started} too early"

    def _limits_hold(self) -> Iterator[str]:
        for queue, most in LIMITS.items():
            for evidence in rules.too_many([each for each in self.attempts if each.queue == queue], most):
                yield f"{queue}: {evidence}"

    def _keys_deliver_the_last_payload(self) -> Iterator[str]:
        last = {
            (new.tenant, new.queue, new.key): new for new in self.enqueued if new.key and not new.recurring
        }
        ran = {(each.tenant, each.queue, each.key, each.payload) for each in self.attempts}
        for scope, new in last.items():
            if (*scope, new.payload) not in ran:
                yield f"{'/'.join(scope)}: the last payload {new.payload} never ran"

    def _tenants_are_separate(self) -> Iterator[str]:
        owners = {new.payload: new.tenant for new in self.enqueued}
        for each in self.attempts:
            if each.tenant != owners.get(each.payload, ""):
                yield f"{each.payload} ran as {each.tenant or 'no tenant'}"

    def _recurrences_are_regular(self) -> Iterator[str]:
        nominal: dict[tuple[str, str], list[datetime]] = defaultdict(list)
        for job in self.jobs.values():
            if job.queue == "recurring":
                nominal[job.key, job.payload].append(job.nominal)
        for (key, payload), times in nominal.items():
            times.sort()
            for first, second in pairwise(times):
                if first == second or (second - first) % PERIOD:
                    yield f"{key}: {payload} occurs at {first} and {second}"

    def _recurrences_follow_the_last_enqueue(self) -> Iterator[str]:
        of_key: dict[str, list[Any]] = defaultdict(list)
        for new in self.enqueued:
            if new.recurring:
                of_key[new.key].append(new)
        for key, enqueues in of_key.items():
            jobs = [job for job in self.jobs.values() if job.queue == "recurring" and job.key == key]
            found, last = [job.payload for job in jobs if job.deleted is None], enqueues[-1].payload
            if found != [last]:
                yield f"{key}: the unfinished jobs are {found}, the last enqueue was {last}"
            for old, new in pairwise(enqueues):
                if any(job.payload == old.payload and job.enqueued > new.enqueued for job in jobs):
                    yield f"{key}: {old.payload} recurs after it was replaced by {new.payload}"

    def _schedules_fire_each_occurrence_once(self) -> Iterator[str]:
        for name in SCHEDULES:
            times = sorted(job.nominal for job in self.jobs.values() if job.schedule == name)
            if not times:
                yield f"{name} never fired"
            for first, second in pairwise(times):
                if second - first != timedelta(seconds=5):
                    yield f"{name}: occurrences at {first} and {second}"
