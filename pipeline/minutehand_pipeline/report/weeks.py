"""Week over week: each ISO week in UTC, and the changes since the week before."""

from datetime import date, timedelta

import pandas as pd

from minutehand_pipeline.report.days import COUNTS, with_percentiles

COMPARED = ("jobs", "dead", "wait_p95", "run_p95", "within", "cost")


def weeks(days: pd.DataFrame, histograms: pd.DataFrame) -> pd.DataFrame:
    """Return each week with its differences from the week before.

    Differences are null unless both weeks are complete. `days` is the report's table of days.
    """
    by_week = days.assign(week=days["day"].map(_monday), days=~days["partial"].astype(bool))
    found = by_week.groupby("week")[["days", *COUNTS, "cost"]].sum().reset_index()
    found["whole"] = found["days"] == 7
    found["within"] = 1 - found["late"] / found["counted"].where(found["counted"] > 0)
    weekly = histograms.assign(week=histograms["day"].map(_monday))
    return _compared(with_percentiles(found, weekly, "week"))


def _compared(found: pd.DataFrame) -> pd.DataFrame:
    """Add the differences. Weeks are in order and without gaps, because every day has a row."""
    both = found["whole"] & found["whole"].shift(fill_value=False)
    changes = {f"{name}_change": found[name].diff().where(both) for name in COMPARED}
    return found.assign(**changes)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
