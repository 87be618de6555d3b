"""The rules of the checker report each fault in small records, and nothing in records without one."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from tests.soak import rules

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LEASE = 3.0


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def job(number: int) -> UUID:
    return UUID(int=number)


@dataclass
class Attempt:
    """An attempt that was claimed at `begin`, and ended `lasted` seconds later or never."""

    number: int
    begin: float
    lasted: float | None = 1.0
    starts_after: float = 0.0
    failed: bool = False
    attempt: int = 1
    job: UUID = field(init=False)
    payload: str = ""

    def __post_init__(self) -> None:
        self.job = job(self.number)
        self.payload = self.payload or f"job-{self.number}"
        self.claimed, self.lease_ends = at(self.begin), at(self.begin + LEASE)
        self.started = at(self.begin + self.starts_after)
        self.ended = None if self.lasted is None else at(self.begin + self.lasted)
        self.free = min(self.ended or self.lease_ends, self.lease_ends)


def many(*attempts: Attempt) -> list[str]:
    return list(rules.too_many(attempts, 1))


def test_limit_allows_one_attempt_after_another() -> None:
    assert many(Attempt(1, 0), Attempt(2, 1)) == []


def test_limit_rejects_two_attempts_at_once() -> None:
    assert len(many(Attempt(1, 0), Attempt(2, 0.9))) == 1


def test_limit_does_not_count_a_frozen_attempt_after_its_lease() -> None:
    assert many(Attempt(1, 0, lasted=6), Attempt(2, LEASE)) == []
    assert len(many(Attempt(1, 0, lasted=6), Attempt(2, LEASE - 0.1))) == 1


def test_limit_counts_a_killed_attempt_until_its_lease_ends() -> None:
    assert len(many(Attempt(1, 0, lasted=None), Attempt(2, LEASE - 0.1))) == 1


def test_limit_does_not_count_a_start_after_the_lease() -> None:
    assert many(Attempt(1, 0, starts_after=4, lasted=5), Attempt(2, 3.5)) == []


def order(*attempts: Attempt) -> list[str]:
    return list(rules.out_of_order(attempts, {job(number): number for number in range(10)}))


def test_order_allows_attempts_in_order() -> None:
    assert order(Attempt(1, 0), Attempt(1, 2, attempt=2), Attempt(2, 3)) == []


def test_order_rejects_a_job_that_starts_before_an_earlier_one() -> None:
    assert len(order(Attempt(2, 0), Attempt(1, 1))) == 1


def test_order_rejects_a_job_that_starts_before_a_retry() -> None:
    assert len(order(Attempt(1, 0, failed=True), Attempt(2, 1), Attempt(1, 2, attempt=2))) == 1


def fast(*seconds: float) -> list[str]:
    attempts = [Attempt(number, begin) for number, begin in enumerate(seconds)]
    return list(rules.too_fast(attempts, rate=0.5, burst=2, slack=timedelta(seconds=2)))


def test_rate_allows_a_burst_and_the_rate_with_the_slack() -> None:
    # Two at once, one for the two seconds of slack, and one for each two seconds.
    assert fast(0, 0, 0, 2, 4) == []


def test_rate_rejects_one_start_too_many() -> None:
    assert len(fast(0, 0, 0, 0)) == 1
    assert len(fast(0, 0, 0, 2, 3.9)) == 1


def broken(*attempts: Attempt) -> list[str]:
    return list(
        rules.while_open(attempts, break_after=2, break_for=timedelta(seconds=4), slack=timedelta(seconds=10))
    )


def fails(*begin: float) -> list[Attempt]:
    return [Attempt(number, each, failed=True) for number, each in enumerate(begin)]


def test_breaker_allows_a_claim_after_its_pause() -> None:
    assert broken(*fails(0, 1.5), Attempt(9, 6.5)) == []


def test_breaker_rejects_a_claim_within_its_pause() -> None:
    assert len(broken(*fails(0, 1.5), Attempt(9, 3))) == 1


def test_breaker_does_not_count_failures_before_a_success() -> None:
    assert broken(*fails(0), Attempt(8, 1), *fails(2), Attempt(9, 3.5)) == []


def test_breaker_does_not_count_failures_while_an_outcome_may_come() -> None:
    frozen = Attempt(8, 0, lasted=6)

    assert broken(frozen, *fails(3.5, 5), Attempt(9, 6.5)) == []
    assert len(broken(frozen, *fails(13.5, 15), Attempt(9, 16.5))) == 1


def ended(*endings: tuple[int, float, bool]) -> dict[UUID, Any]:
    return {job(number): SimpleNamespace(at=at(end), failed=failed) for number, end, failed in endings}


def called(calls: Iterable[Attempt], *endings: tuple[int, float, bool], accepted: int = 1) -> list[str]:
    jobs = {job(number): SimpleNamespace(payload=f"job-{number}") for number in (1, 2)}
    effects = [*calls][:accepted]
    return list(rules.wrong_callback("b", jobs, [*calls], effects, ended(*endings)))


def test_callback_is_accepted_once_after_all_jobs() -> None:
    complete, failure = Attempt(5, 3, payload="b-complete"), Attempt(5, 3, payload="b-failure")

    assert called([complete], (1, 1, False), (2, 3, False)) == []
    assert called([failure], (1, 1, False), (2, 3, True)) == []


def test_callback_that_is_missing_is_rejected() -> None:
    assert len(called([], (1, 1, False), (2, 2, False))) == 1


def test_callback_that_is_accepted_twice_is_rejected() -> None:
    calls = [Attempt(5, 3, payload="b-complete"), Attempt(6, 4, payload="b-complete")]

    assert len(called(calls, (1, 1, False), (2, 2, False), accepted=2)) == 2
    assert len(called(calls, (1, 1, False), (2, 2, False), accepted=1)) == 1


def test_callback_of_the_other_outcome_is_rejected() -> None:
    assert len(called([Attempt(5, 3, payload="b-complete")], (1, 1, True), (2, 2, False))) == 1


def test_callback_that_starts_before_a_job_has_ended_is_rejected() -> None:
    assert len(called([Attempt(5, 3, payload="b-complete")], (1, 1, False), (2, 3.1, False))) == 1


def succeeds(
    attempts: Iterable[Attempt], *endings: tuple[int, float, bool], failure: str = "cancel"
) -> list[str]:
    new = SimpleNamespace(payload="then", after=[job(1), job(2)], after_failure=failure)
    return list(rules.wrong_successor(new, [*attempts], [*attempts], ended(*endings)))


def test_successor_starts_after_its_predecessors() -> None:
    assert succeeds([Attempt(5, 2)], (1, 1, False), (2, 2, False)) == []
    assert succeeds([Attempt(5, 2)], (1, 1, False), (2, 2, True), failure="run") == []
    assert succeeds([], (1, 1, False), (2, 2, True)) == []


def test_successor_that_starts_before_a_predecessor_ends_is_rejected() -> None:
    assert len(succeeds([Attempt(5, 2)], (1, 1, False), (2, 2.1, False))) == 1
    assert len(succeeds([Attempt(5, 2)], (1, 1, False))) == 1


def test_successor_of_a_failure_is_rejected_unless_it_runs_then() -> None:
    assert len(succeeds([Attempt(5, 2)], (1, 1, False), (2, 2, True))) == 1
    assert len(succeeds([], (1, 1, False), (2, 2, True), failure="run")) == 1
