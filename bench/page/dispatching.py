"""The sections about batches, groups, further jobs and the mode `prompt`: their tables, goals and missed goals."""

from collections.abc import Mapping, Sequence
from statistics import median

from bench.page.commands import ReasonError
from bench.page.tables import markdown
from bench.page.targets import BATCH_MOST, OFFER_MOST
from bench.page.titles import TITLES
from bench.queues.cases import ONE_BATCH
from bench.queues.systems import IN_BATCH, OURS
from bench.results import Further, Offers, Results, Waits
from bench.statistics import ratio, spread

NOTHING = "No results are published yet."


def batch_runs(results: Results, reasons: Mapping[str, str]) -> str:
    """Return how long jobs of one batch take, compared with jobs without a batch."""
    if (case := results.cases.get(ONE_BATCH.name)) is None:
        return NOTHING
    times = ratio(case.rates[OURS], case.rates[IN_BATCH.name])
    rows = (
        (
            TITLES[name],
            f"{median(case.rates[name]):,.0f}",
            f"{spread(case.rates[name]):.0%}",
            f"{times:.2f}" if name == IN_BATCH.name else "",
            *("" if cost is None else f"{cost:,.0f}" for cost in case.costs[name].values()),
        )
        for name in (OURS, IN_BATCH.name)
    )
    head = ("", "jobs/s", "spread", "times as long", "client, µs", "server, µs", "WAL, bytes")
    missed = {ONE_BATCH.name: f"{times:.2f}"} if times > BATCH_MOST else {}
    return joined(
        f"{case.jobs:,} jobs, {case.workers} workers, and the median of {len(case.rates[OURS])} rounds.",
        markdown(head, rows),
        explain_missed(missed, f"{BATCH_MOST}", reasons),
        measured_commit(case.commit),
    )


def offer_runs(offers: Offers, reasons: Mapping[str, str]) -> str:
    """Return the time of an offer among the jobs of many groups."""
    if not offers.milliseconds:
        return NOTHING
    times = {name: _sides(rounds) for name, rounds in offers.milliseconds.items()}
    rows = ((name, *(f"{ms:.1f} ms" for ms in sides)) for name, sides in times.items())
    missed = {name: f"{sides[0]:.1f} ms" for name, sides in times.items() if sides[0] > OFFER_MOST}
    return joined(
        f"{offers.groups:,} groups with {offers.jobs:,} jobs, and an offer of up to {offers.size} of them.",
        markdown(("", *("time", "CPU of the server")[: len(next(iter(times.values())))]), rows),
        explain_missed(missed, f"{OFFER_MOST:.0f} ms", reasons),
        measured_commit(offers.commit),
    )


def further_runs(further: Further) -> str:
    """Return the jobs a minute of workers that take further jobs, and of workers that do not."""
    if not further.rates:
        return NOTHING
    rows = (
        (
            "only the jobs it was invoked for" if most == "1" else f"up to {most} jobs",
            f"{rate:.1f}",
            f"{further.possible(most):.0f}",
            f"{rate / further.possible(most):.2f}",
        )
        for most, rate in further.rates.items()
    )
    return joined(
        f"The capacity is {further.capacity}, a job takes {further.seconds:g} s, and more jobs are due than "
        f"{further.minutes} ticks offer.",
        markdown(("an invocation runs", "jobs a minute", "possible", "ratio"), rows),
        "*Possible* are the jobs of a capacity that is never idle, or one job for each offer.",
        measured_commit(further.commit),
    )


def wait_runs(waits: Waits) -> str:
    """Return the waits in the mode `prompt`, next to those of the theory."""
    if not waits.waits:
        return NOTHING
    rows = ((name, *(f"{value:.2f} s" for value in values)) for name, values in waits.waits.items())
    return joined(
        f"The capacity is {waits.capacity}. {waits.jobs:,} jobs of {waits.seconds:g} s arrived at random and used "
        f"{waits.load:.0%} of it.",
        markdown(("", "p50", "p95", "p99"), rows),
        measured_commit(waits.commit),
    )


def _sides(rounds: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the medians of the rounds: elapsed, and processor time if it is known."""
    sides = zip(*rounds, strict=True)
    return [median(known) for side in sides if (known := [value for value in side if value is not None])]


def explain_missed(missed: Mapping[str, str], goal: str, reasons: Mapping[str, str]) -> str:
    """Return the missed goals with their reasons. Raise ReasonError if one has none."""
    if unexplained := missed.keys() - reasons.keys():
        raise ReasonError(f"reasons.toml must explain {min(unexplained)!r}, which misses its target")
    return "\n".join(
        f"- **{name}** misses the target of {goal}: {value}. {reasons[name]}"
        for name, value in missed.items()
    )


def measured_commit(commit: str) -> str:
    """Return the sentence on the measured commit."""
    return f"The measured commit is of {commit}."


def joined(*parts: str) -> str:
    """Join the parts of a section that are not empty."""
    return "\n\n".join(part for part in parts if part)
