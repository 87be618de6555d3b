"""Daily numbers: every UTC day of the window, including days without jobs."""

from datetime import date, timedelta

import pandas as pd

from minutehand_pipeline.report.buckets import SHARES, percentiles
from minutehand_pipeline.report.lateness import with_budget
from minutehand_pipeline.report.throughput import ENDED
from minutehand_pipeline.report.window import Window

COUNTS = [*ENDED, "counted", "late"]
WHATS = ("wait", "run")


def days(
    window: Window,
    ended: pd.DataFrame,
    histograms: pd.DataFrame,
    bills: pd.DataFrame,
    target: float,
    today: date,
) -> pd.DataFrame:
    """Return a row for each day of the window: counts, percentiles, lateness and cost.

    A day from `today` on is partial; a day without jobs is empty.
    """
    calendar = [window.since + timedelta(days=n) for n in range(window.days)]
    found = pd.DataFrame({"day": pd.Series(calendar, dtype=object)})
    found = found.merge(ended.groupby("day")[COUNTS].sum().reset_index(), on="day", how="left")
    found = found.merge(bills.groupby("day")["cost"].sum().reset_index(), on="day", how="left")
    found = with_percentiles(found.fillna(dict.fromkeys([*COUNTS, "cost"], 0)), histograms, "day")
    found = with_budget(found, target)
    return found.assign(partial=[day >= today for day in calendar], empty=found["jobs"] == 0)


def with_percentiles(frame: pd.DataFrame, histograms: pd.DataFrame, by: str) -> pd.DataFrame:
    """Add the percentiles of waits and run times of each day or week."""
    found = percentiles(histograms, ["what", by])
    for what in WHATS:
        of_what = found[found["what"] == what].rename(columns={name: f"{what}_{name}" for name in SHARES})
        frame = frame.merge(of_what[[by, *(f"{what}_{name}" for name in SHARES)]], on=by, how="left")
    return frame
