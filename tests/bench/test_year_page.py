"""The sections on a year of jobs and on executors show the commands; too much memory is explained."""

import pytest

from bench.page.commands import ReasonError
from bench.page.year import executor_runs, year_runs
from bench.results import Executors, Step, Year

SMALL, LARGE = Step(1000.4, 2000, 900, 700), Step(60, 80, 5000, 700)


def test_commands_of_a_year_are_shown_with_their_memory() -> None:
    shown = year_runs(Year("now", 5000, 5250, 365, 1000, 2.1, 12, {"archive": SMALL}), {})

    assert shown.startswith(
        "5,000 finished jobs and 5,250 attempts of 365 days and 1,000 tenants. The lake has 12 MB."
    )
    assert "| archive | 1,000 s | 2,000 s | 900 MB | 700 MB |" in shown
    assert "The load of the machine at the end was 2.1, mostly from these commands." in shown


def test_command_with_too_much_memory_needs_a_reason() -> None:
    year = Year("now", steps={"archive": LARGE})

    with pytest.raises(ReasonError, match="must explain 'archive'"):
        year_runs(year, {})
    assert "- **archive** misses the target of 4,096 MB: 5,000 MB. It sorts." in year_runs(
        year, {"archive": "It sorts."}
    )


def test_year_without_results_is_not_shown() -> None:
    assert year_runs(Year(), {}) == "No results are published yet."


def test_executors_are_shown_with_rows_per_second() -> None:
    shown = executor_runs(Executors("now", 1000, 3000, {"1": [30.0, 20.0], "2": [15.0, 10.0]}))

    assert shown.startswith("1,000 finished jobs of a day, 3,000 rows with their attempts and events.")
    assert "| 2 | 15 s | 200 | 10 s | 100 |" in shown


def test_executors_without_results_are_not_shown() -> None:
    assert executor_runs(Executors()) == "No results are published yet."
