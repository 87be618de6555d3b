"""The section about old snapshots: how their latency compares with that of the same load without one."""

from collections.abc import Mapping

from bench.page.tables import markdown
from bench.results import Steady

# The p99 with an old snapshot must be at most this many times that without.
GOAL = 1.5

# In place of the figures of a window in which nothing began, for example because the system was stalled.
NO_SAMPLES = "no samples"

Runs = Mapping[str, Steady]


def snapshot_runs(snapshots: Runs) -> str:
    """Return the tables of the runs, the longest first, how they were measured, and which of them miss the target."""
    if not snapshots:
        return "No results are published yet."
    alike: dict[tuple[int, ...], dict[str, Steady]] = {}
    for title, runs in snapshots.items():
        alike.setdefault(runs.terms, {})[title] = runs
    return "\n\n".join(_alike(alike[terms]) for terms in sorted(alike, reverse=True))


def _alike(snapshots: Runs) -> str:
    """Return the table of systems whose runs were equally long, and what belongs to it."""
    first = next(iter(snapshots.values()))
    seconds, window = f"{first.seconds:,} seconds", f"{first.window} seconds"
    return (
        f"These systems ran twice for {seconds} at {first.rate} jobs per second, with and without the transaction. "
        f"The first columns are the last {window}; the last ones are the ratios of the p99 with the transaction to "
        f"that without it, in each {window}. The target is at most {GOAL}.\n\n"
        f"{snapshot_table(snapshots)}\n\n"
        f"In the last {window}, these were above the target: {_above(snapshots)}. {_commits(snapshots)}"
    )


def _commits(snapshots: Runs) -> str:
    """Return the measured commits, of which each system has one."""
    titles: dict[str, list[str]] = {}
    for title, runs in snapshots.items():
        titles.setdefault(runs.commit, []).append(title)
    if len(titles) == 1:
        return f"The measured commit is of {next(iter(titles))}."
    measured = "; ".join(f"{commit} ({', '.join(titles[commit])})" for commit in sorted(titles))
    return f"The measured commits are of {measured}."


def snapshot_table(snapshots: Runs) -> str:
    """Return the latency of each system and operation at the end of the run, and its ratios by window."""
    count = max(len(windows) for runs in snapshots.values() for windows in runs.operations.values())
    window = next(iter(snapshots.values())).window
    ends = [f"{window * (number + 1):,} s" for number in range(count)]
    rows = (
        (f"{title}: {operation}", *_cells(windows, count))
        for title, runs in snapshots.items()
        for operation, windows in runs.operations.items()
    )
    return markdown(("", "p50 without", "p50 with", "p99 without", "p99 with", *ends), rows)


def _cells(windows: list[list[float] | None], count: int) -> list[str]:
    last = windows[-1]
    milliseconds = [f"{value:.2f} ms" for value in last] if last else [NO_SAMPLES] * 4
    ratios = [f"{_ratio(window):.2f}" if window else NO_SAMPLES for window in windows]
    return [*milliseconds, *ratios, *[""] * (count - len(ratios))]


def _above(snapshots: Runs) -> str:
    found = [
        f"{title} ({operation}, {f'{_ratio(windows[-1]):.2f}' if windows[-1] else NO_SAMPLES})"
        for title, runs in snapshots.items()
        for operation, windows in runs.operations.items()
        if not windows[-1] or _ratio(windows[-1]) > GOAL
    ]
    return "; ".join(found) or "none"


def _ratio(window: list[float]) -> float:
    return window[3] / window[2]
