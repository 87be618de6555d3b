"""Result: what each policy would have come to, next to what was recorded, ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minutehand_pipeline.prices import LIST, Prices
from minutehand_pipeline.simulate.history import PERCENTILES
from minutehand_pipeline.simulate.play import EDGES
from minutehand_pipeline.simulate.policy import Policy

RANKS = ("late", "dollars", "dead")


@dataclass(frozen=True, kw_only=True)
class Played:
    """What a policy comes to. Times are seconds, money is dollars; what was not recorded is None.

    `late` is the percentiles of lateness, from due to the beginning of the first attempt, by their share. `histogram`
    is how many jobs were no later than so many seconds. `dollars` is functions and schedules; `database_dollars` one
    Aurora capacity unit for the time it is awake, which a database that never pauses costs anyhow.
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


def of_recorded(row: Mapping[str, Any], invocations: int, prices: Prices = LIST) -> Played:
    """Return what was recorded. Its money is that of the attempts alone: ticks and cold starts leave no row."""
    return Played(
        policy="as recorded", jobs=row["jobs"], done=row["done"], dead=row["dead"], cancelled=row["cancelled"],
        attempts=row["attempts"], invocations=invocations or None, gb_seconds=row["gb_seconds"],
        late=_percentiles(row["percentiles"]), late_mean=row["late_mean"], late_max=row["late_max"],
        dollars=prices.of_run(row["gb_seconds"], invocations) if invocations else None,
    )  # fmt: skip


def of_played(row: Mapping[str, Any], policy: Policy, prices: Prices = LIST) -> Played:
    """Return what a policy came to, from the sums of what was played."""
    states = {state: row[state] for state in ("done", "dead", "cancelled", "unfinished")}
    return Played(
        policy=policy.name or "given", jobs=sum(states.values()), **states, attempts=row["attempts"], cold=row["cold"],
        invocations=row["invocations"], gb_seconds=row["gb_seconds"], ticks=row["ticks"],
        awake_seconds=row["awake_seconds"], late=_percentiles(row["percentiles"]), late_max=row["late_max"],
        late_mean=row["late_seconds"] / row["begun"] if row["begun"] else None,
        histogram=_histogram(row["histogram"]),
        dollars=_dollars(row, policy, prices), database_dollars=prices.of_database(row["awake_seconds"]),
    )  # fmt: skip


def ranked(played: Sequence[Played], by: str = "late") -> list[Played]:
    """Return policies with the best first, and mark those than which none is better in one thing and worse in none.

    The things are dead and unfinished jobs, the 99th percentile of lateness, and dollars with the database's.
    """
    marked = [replace(each, pareto=not any(_beats(other, each) for other in played)) for each in played]
    return sorted(marked, key=lambda each: (_measures(each)[RANKS.index(by)], _measures(each), each.policy))


def _beats(other: Played, each: Played) -> bool:
    theirs, own = _measures(other), _measures(each)
    return theirs != own and all(a <= b for a, b in zip(theirs, own, strict=True))


def _measures(each: Played) -> tuple[float, float, float]:
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
    wakes = row["ticks"]
    runs = prices.of_run(
        row["gb_seconds"] + row["tick_gb_seconds"], row["invocations"] + wakes, policy.architecture
    )
    return runs + prices.of_wakes(wakes)
