"""How long a failed job waits, by each strategy."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutehand import Retry

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
YEAR = timedelta(days=365)


@st.composite
def retries(draw: st.DrawFn) -> Retry:
    """Any strategy that the database takes."""
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


def test_fixed_waits_the_same_each_time() -> None:
    assert waits("fixed") == [10, 10, 10, 10, 10]


def test_linear_adds_a_share_of_the_first_wait_each_time() -> None:
    assert waits("linear", factor=1) == [10, 20, 30, 40, 50]
    assert waits("linear", factor=0.5) == [10, 15, 20, 25, 30]


def test_exponential_multiplies_each_time() -> None:
    assert waits("exponential", factor=2) == [10, 20, 40, 80, 160]
    assert waits("exponential") == [10, 30, 90, 270, 810]


def test_no_wait_is_longer_than_the_longest() -> None:
    assert waits("exponential", max=25 * SECOND) == [10, 25, 25, 25, 25]
    assert waits("linear", max=25 * SECOND, factor=1) == [10, 20, 25, 25, 25]


def test_a_factor_of_zero_is_no_wait_after_the_first() -> None:
    assert waits("exponential", factor=0) == [10, 0, 0, 0, 0]
    assert waits("linear", factor=0) == [10, 10, 10, 10, 10]


@pytest.mark.parametrize("strategy", ["linear", "exponential"])
@pytest.mark.parametrize("failures", [10**3, 10**6, 2**31])
@pytest.mark.parametrize("factor", [2, 3.0, 1000])
def test_a_wait_beyond_all_numbers_is_the_longest(strategy: str, failures: int, factor: float) -> None:
    retry = Retry(strategy=strategy, min=YEAR, max=YEAR, factor=factor, jitter=False)  # type: ignore[arg-type]

    assert retry.wait(failures) == YEAR


def test_full_jitter_takes_any_share_of_the_wait() -> None:
    retry = Retry(strategy="fixed", min=1000 * SECOND)

    assert retry.wait(1, chance=0) == timedelta()
    assert retry.wait(1, chance=0.5) == 500 * SECOND
    assert retry.wait(1, chance=0.999) == 999 * SECOND


def test_jitter_is_a_share_of_what_is_capped_and_not_capped_itself() -> None:
    retry = Retry(strategy="exponential", min=10 * SECOND, max=100 * SECOND)

    assert retry.wait(50, chance=0.5) == 50 * SECOND


def test_without_a_chance_given_each_wait_is_another() -> None:
    retry = Retry(strategy="fixed", min=1000 * SECOND)

    assert len({retry.wait(1) for _ in range(20)}) > 1


@given(retry=retries(), failures=st.integers(1, 1_000_000), chance=st.floats(0, 1, exclude_max=True))
def test_every_wait_is_between_nothing_and_the_longest(retry: Retry, failures: int, chance: float) -> None:
    assert timedelta() <= retry.wait(failures, chance) <= retry.max


@given(retry=retries(), failures=st.integers(1, 1000), chance=st.floats(0, 1, exclude_max=True))
def test_jitter_never_waits_longer_than_none(retry: Retry, failures: int, chance: float) -> None:
    plain = Retry(strategy=retry.strategy, min=retry.min, max=retry.max, factor=retry.factor, jitter=False)

    assert retry.wait(failures, chance) <= plain.wait(failures)


@given(retry=retries())
def test_a_strategy_comes_back_from_the_database_as_it_went_in(retry: Retry) -> None:
    assert Retry.from_json(retry.to_json()) == retry


def test_a_job_that_says_nothing_has_the_default_strategy() -> None:
    assert Retry.from_json(None) == Retry()
