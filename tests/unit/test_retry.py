"""Waits of each retry strategy."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutehand import Retry

SECOND = timedelta(seconds=1)
YEAR = timedelta(days=365)


@st.composite
def retries(draw: st.DrawFn) -> Retry:
    """Generate strategies that the database accepts."""
    shortest = draw(st.timedeltas(timedelta(), YEAR))
    return Retry(
        strategy=draw(st.sampled_from(["fixed", "linear", "exponential"])),
        min=shortest,
        max=draw(st.timedeltas(shortest, YEAR)),
        factor=draw(st.floats(0, 1000)),
        jitter=draw(st.booleans()),
    )


def waits(strategy: str, **options: object) -> list[float]:
    retry = Retry(strategy=strategy, min=10 * SECOND, jitter=False, **options)  # type: ignore[arg-type]
    return [retry.wait(failures).total_seconds() for failures in range(1, 6)]


def test_fixed_backoff_is_constant() -> None:
    assert waits("fixed") == [10, 10, 10, 10, 10]


def test_linear_backoff_adds_a_fraction_of_the_first_wait() -> None:
    assert waits("linear", factor=1) == [10, 20, 30, 40, 50]
    assert waits("linear", factor=0.5) == [10, 15, 20, 25, 30]


def test_exponential_backoff_multiplies_each_wait() -> None:
    assert waits("exponential", factor=2) == [10, 20, 40, 80, 160]
    assert waits("exponential") == [10, 30, 90, 270, 810]


def test_wait_never_exceeds_the_maximum() -> None:
    assert waits("exponential", max=25 * SECOND) == [10, 25, 25, 25, 25]
    assert waits("linear", max=25 * SECOND, factor=1) == [10, 20, 25, 25, 25]


def test_zero_factor_means_no_wait_after_the_first() -> None:
    assert waits("exponential", factor=0) == [10, 0, 0, 0, 0]
    assert waits("linear", factor=0) == [10, 10, 10, 10, 10]


@pytest.mark.parametrize("strategy", ["linear", "exponential"])
@pytest.mark.parametrize("failures", [10**3, 10**6, 2**31])
@pytest.mark.parametrize("factor", [2, 3.0, 1000])
def test_overflowing_wait_is_the_maximum(strategy: str, failures: int, factor: float) -> None:
    retry = Retry(strategy=strategy, min=YEAR, max=YEAR, factor=factor, jitter=False)  # type: ignore[arg-type]

    assert retry.wait(failures) == YEAR


def test_full_jitter_covers_the_whole_wait() -> None:
    retry = Retry(strategy="fixed", min=1000 * SECOND)

    assert retry.wait(1, chance=0) == timedelta()
    assert retry.wait(1, chance=0.5) == 500 * SECOND
    assert retry.wait(1, chance=0.999) == 999 * SECOND


def test_jitter_applies_to_the_capped_wait() -> None:
    retry = Retry(strategy="exponential", min=10 * SECOND, max=100 * SECOND)

    assert retry.wait(50, chance=0.5) == 50 * SECOND


def test_wait_without_a_random_source_varies() -> None:
    retry = Retry(strategy="fixed", min=1000 * SECOND)

    assert len({retry.wait(1) for _ in range(20)}) > 1


@given(retry=retries(), failures=st.integers(1, 1_000_000), chance=st.floats(0, 1, exclude_max=True))
def test_wait_is_between_zero_and_the_maximum(retry: Retry, failures: int, chance: float) -> None:
    assert timedelta() <= retry.wait(failures, chance) <= retry.max


@given(retry=retries(), failures=st.integers(1, 1000), chance=st.floats(0, 1, exclude_max=True))
def test_jitter_never_lengthens_a_wait(retry: Retry, failures: int, chance: float) -> None:
    plain = Retry(strategy=retry.strategy, min=retry.min, max=retry.max, factor=retry.factor, jitter=False)

    assert retry.wait(failures, chance) <= plain.wait(failures)


@given(retry=retries())
def test_strategy_survives_a_round_trip_through_the_database(retry: Retry) -> None:
    assert Retry.from_json(retry.to_json()) == retry


def test_job_without_a_strategy_has_the_default() -> None:
    assert Retry.from_json(None) == Retry()
