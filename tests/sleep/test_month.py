"""A simulated month of mode sleep: no job is lost, and the database is touched only when there is work."""

import os

import pytest

from tests.sleep.checker import MINUTE
from tests.sleep.event_bridge import EventBridge
from tests.sleep.month import SWEEP, Month
from tests.thorough import THOROUGH

# Of the month, 10,000 by default.
RACES = int(os.environ.get("MINUTEHAND_TEST_RACES", "10000"))


def check(month: Month) -> None:
    """Run it, and check that it kept the promises of the mode."""
    report = month.run(print)
    checker = month.checker
    print(dict(month.happened), report)

    assert checker.unfinished() == 0
    assert checker.absent() == []
    assert "unexplained" not in checker.touched.values()
    assert [late for late in checker.late if not late.is_excused(month.ledger.lost)] == []
    assert all(late.found - late.previous <= SWEEP + MINUTE for late in checker.late)
    month.close()


def test_day_of_races_loses_no_job_and_wakes_only_for_work(
    url_with_clock: str, event_bridge: EventBridge
) -> None:
    check(Month(url_with_clock, event_bridge, seed=15, days=1, races=10))


@pytest.mark.thorough
@pytest.mark.skipif(not THOROUGH, reason="takes half an hour")
def test_month_of_races_loses_no_job_and_wakes_only_for_work(
    url_with_clock: str, event_bridge: EventBridge
) -> None:
    check(Month(url_with_clock, event_bridge, seed=14, days=30, races=RACES))
