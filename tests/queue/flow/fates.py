"""Ends of jobs and batches: the checker's rules about attempts that lapse, ends and callbacks.

Like the rules of flow control, they know the ledger only, and report what is wrong for all times of the calls.
"""

from collections.abc import Callable, Sequence
from math import inf
from uuid import UUID

from tests.queue.flow.checker import most_at_once
from tests.queue.flow.ledger import FINAL, Attempt, Callback, End, Ledger, Run


class Fates:
    """The ends of the jobs of a ledger."""

    def __init__(self, ledger: Ledger, max_attempts: int) -> None:
        self._ledger, self._max_attempts = ledger, max_attempts
        self._attempts = ledger.attempts_of()
        self._ends = {job: _final_ends(attempts) for job, attempts in self._attempts.items()}

    def check(self, runs: Sequence[Run]) -> list[str]:
        """Return what is wrong."""
        wrong = {
            "ended twice": [job for job, ends in self._ends.items() if len(ends) > 1],
            "never ended": [job for job in self._ends if self.state(job) is None],
            "ran twice at once": [job for job in self._ends if self._overlap(job, runs)],
            "started after the end": [job for job in self._ends if self._starts_late(job)],
            "offer claimed twice": self._jobs_of(lambda each: len(each.claims) > 1),
            "lapsed offer claimed": self._jobs_of(lambda each: bool(each.dropped and each.claims)),
            "late finish accepted": self._jobs_of(self._is_stale),
            "finish lost": self._jobs_of(_is_lost_wrongly),
        }
        found = [f"{rule}: {self._evidence(job)}" for rule, jobs in wrong.items() for job in jobs]
        return found + [each for batch in self._ledger.batches for each in self._check_batch(batch)]

    def _evidence(self, job: UUID) -> str:
        return "\n    ".join(map(str, [job, self._ledger.jobs[job], *self._attempts[job]]))

    def state(self, job: UUID) -> str | None:
        """Return how a job ended: `dead` also if its last attempt lapsed, `cancelled` also if a predecessor failed."""
        if ends := self._ends[job]:
            return ends[0].ending
        claimed = [each for each in self._attempts[job] if each.claims]
        # The start of the last one may have begun before others, and have waited for locks.
        if len(claimed) == self._max_attempts and max(claimed, key=lambda each: each.claims[0].ended).lapsed:
            return "dead"
        known = self._ledger.jobs[job]
        fails = any(self.state(each) != "done" for each in known.after)
        return "cancelled" if known.after_failure == "cancel" and fails and not self._attempts[job] else None

    def _overlap(self, job: UUID, runs: Sequence[Run]) -> bool:
        return most_at_once(run for run in runs if run.job == job) > 1

    def _starts_late(self, job: UUID) -> bool:
        return any(
            each.start.began > end.span.ended for end in self._ends[job] for each in self._attempts[job]
        )

    def _jobs_of(self, applies: Callable[[Attempt], bool]) -> list[UUID]:
        return [each.job for each in self._ledger.attempts.values() if applies(each)]

    def _is_stale(self, attempt: Attempt) -> bool:
        """Whether a finish was accepted after another claim of the job."""
        return attempt.accepted is not None and any(
            claim.began > attempt.claims[0].ended and claim.ended < attempt.accepted.span.began
            for other in self._attempts[attempt.job]
            for claim in other.claims
            if other is not attempt
        )

    def _check_batch(self, batch: UUID) -> list[str]:
        jobs = [job for job, known in self._ledger.jobs.items() if known.batch == batch]
        callbacks = self._ledger.callbacks[batch]
        if len({each.job for each in callbacks}) != 1:
            return [f"batch {batch}: {len(callbacks)} callbacks"]
        states = [self.state(job) for job in jobs]
        wrong = {
            "wrong callback": callbacks[0].kind != ("complete" if set(states) <= {"done"} else "fail"),
            "wrong counts": not _counts(callbacks[0], states),
            "early callback": self._attempts[callbacks[0].job][0].start.ended < max(map(self._ended, jobs)),
        }
        return [f"batch {batch}: {rule}" for rule, applies in wrong.items() if applies]

    def _ended(self, job: UUID) -> float:
        """Return the earliest time at which a job can have ended."""
        lapses = [each.lapsed.began for each in self._attempts[job] if each.lapsed]
        return self._ends[job][0].span.began if self._ends[job] else max(lapses, default=-inf)


def _final_ends(attempts: Sequence[Attempt]) -> list[End]:
    ends = [end for attempt in attempts for end in attempt.ends]
    return sorted(end for end in ends if end.ending in FINAL)


def _is_lost_wrongly(attempt: Attempt) -> bool:
    return attempt.lapsed is None and any(end.ending == "lost" for end in attempt.ends)


def _counts(callback: Callback, states: Sequence[str | None]) -> bool:
    """Whether the callback got the counts of its batch when all jobs had ended."""
    expected = {"total": len(states), "open": 0} | {each: states.count(each) for each in FINAL[:3]}
    return all(callback.counts[name] == count for name, count in expected.items())
