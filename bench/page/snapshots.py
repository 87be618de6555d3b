"""The section about old snapshots: how their latency compares with that of the same load without one."""

from bench.page.tables import markdown
from bench.results import Snapshots

# The p99 with an old snapshot must be at most this many times that without.
GOAL = 1.5


def snapshot_runs(snapshots: Snapshots) -> str:
    """Return the table of the runs, how they were measured, and which of them miss the target."""
    if not snapshots.runs:
        return "No results are published yet."
    seconds, window = f"{snapshots.seconds:,} seconds", f"{snapshots.window} seconds"
    return (
        f"Each system ran twice for {seconds} at {snapshots.rate} jobs per second, with and without the transaction. "
        f"The first columns are the last {window}; the last ones are the ratios of the p99 with the transaction to "
        f"that without it, in each {window}. The target is at most {GOAL}.\n\n"
        f"{snapshot_table(snapshots)}\n\n"
        f"In the last {window}, these were above the target: {_above(snapshots)}. "
        f"The measured commit is of {snapshots.commit}."
    )


def snapshot_table(snapshots: Snapshots) -> str:
    """Return the latency of each system and operation at the end of the run, and its ratios by window."""
    count = max(len(windows) for operations in snapshots.runs.values() for windows in operations.values())
    ends = [f"{snapshots.window * (number + 1):,} s" for number in range(count)]
    rows = (
        (f"{title}: {operation}", *_cells(windows))
        for title, operations in snapshots.runs.items()
        for operation, windows in operations.items()
    )
    return markdown(("", "p50 without", "p50 with", "p99 without", "p99 with", *ends), rows)


def _cells(windows: list[list[float]]) -> list[str]:
    milliseconds = [f"{value:.2f} ms" for value in windows[-1]]
    return [*milliseconds, *(f"{_ratio(window):.2f}" for window in windows)]


def _above(snapshots: Snapshots) -> str:
    found = [
        f"{title} ({operation}, {_ratio(windows[-1]):.2f})"
        for title, operations in snapshots.runs.items()
        for operation, windows in operations.items()
        if _ratio(windows[-1]) > GOAL
    ]
    return "; ".join(found) or "none"


def _ratio(window: list[float]) -> float:
    return window[3] / window[2]
