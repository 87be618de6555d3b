"""The result of each policy, next to the recorded history, in order of rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minutehand_pipeline.prices import LIST, Prices
from minutehand_pipeline.simulate.history import PERCENTILES
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.windows import EDGES

RANKS = ("late", "dollars", "dead")


@dataclass(frozen=True, kw_only=True)
class PolicyResult:
    """The result of a policy. Times are in seconds, money in dollars; what was not recorded is None.

    `late` has the percentiles of lateness, from due to the start of the first attempt. `histogram` has the number of
    jobs that were at most that many seconds late. `dollars` covers functions and schedules. `database_dollars` is one
    Aurora capacity unit while it is awake; a database that never pauses costs that anyway.
    """

    policy: str
    jobs: int
    done: int
    dead: int
    cancelled: int
    unfinished: int = 0
    attempts: int
    invocations: float | None
    cold: float | None = None
    gb_seconds: float
    ticks: int | None = None
    awake_seconds: float | None = None
    late: Mapping[str, float | None]
    late_mean: float | None
    late_max: float | None
    histogram: Mapping[str, int] | None = None
    dollars: float | None
    database_dollars: float | None = None
    pareto: bool = False


def recorded_result(row: Mapping[str, Any], invocations: int, prices: Prices = LIST) -> PolicyResult:
    """Return the recorded history. Its cost covers attempts only, because ticks and cold starts are not recorded."""
    return PolicyResult(
        policy="as recorded",
        jobs=row["jobs"],
        done=row["done"],
        dead=row["dead"],
        cancelled=row["cancelled"],
        attempts=row["attempts"],
        invocations=invocations or None,
        gb_seconds=row["gb_seconds"],
        late=_percentiles(row["percentiles"]),
        late_mean=row["late_mean"],
        late_max=row["late_max"],
        dollars=prices.of_run(row["gb_seconds"], invocations) if invocations else None,
    )


def simulated_result(row: Mapping[str, Any], policy: Policy, prices: Prices = LIST) -> PolicyResult:
    """Return the result of a policy from its summed measures."""
    states = {state: row[state] for state in ("done", "dead", "cancelled", "unfinished")}
    return PolicyResult(
        policy=policy.name or "given",
        jobs=sum(states.values()),
        **states,
        attempts=row["attempts"],
        cold=row["cold"],
        invocations=row["invocations"],
        gb_seconds=row["gb_seconds"],
        ticks=row["ticks"],
        awake_seconds=row["awake_seconds"],
        late=_percentiles(row["percentiles"]),
        late_max=row["late_max"],
        late_mean=row["late_seconds"] / row["started"] if row["started"] else None,
        histogram=_histogram(row["histogram"]),
        dollars=_dollars(row, policy, prices),
        database_dollars=prices.of_database(row["awake_seconds"]),
    )


def rank(results: Sequence[PolicyResult], by: str = "late") -> list[PolicyResult]:
    """Return the results, best first. Mark those that no other result beats.

    A result beats another if it is better in one measure and worse in none. The measures are the 99th percentile of
    lateness, dollars including the database's, and dead and unfinished jobs.
    """
    marked = [replace(each, pareto=not any(_beats(other, each) for other in results)) for each in results]
    return sorted(marked, key=lambda each: (_measures(each)[RANKS.index(by)], _measures(each), each.policy))


def _beats(one: PolicyResult, other: PolicyResult) -> bool:
    ours, theirs = _measures(one), _measures(other)
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _measures(each: PolicyResult) -> tuple[float, float, float]:
    late = each.late[f"p{PERCENTILES[-1] * 100:g}"]
    return (
        late if late is not None else 0.0,
        (each.dollars or 0.0) + (each.database_dollars or 0.0),
        float(each.dead + each.unfinished),
    )


def _percentiles(found: Sequence[float] | None) -> dict[str, float | None]:
    values: Sequence[float | None] = found or [None] * len(PERCENTILES)
    return {f"p{share * 100:g}": value for share, value in zip(PERCENTILES, values, strict=True)}


def _histogram(counts: Sequence[int] | None) -> dict[str, int] | None:
    return dict(zip((f"{edge:g}" for edge in EDGES), counts, strict=True)) if counts else None


def _dollars(row: Mapping[str, Any], policy: Policy, prices: Prices) -> float:
    ticks = row["ticks"]
    runs = prices.of_run(
        row["gb_seconds"] + row["tick_gb_seconds"], row["invocations"] + ticks, policy.architecture
    )
    return runs + prices.of_wakes(ticks)
