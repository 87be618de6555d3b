"""Tiny histories, said in a line each, and what becomes of them under a policy."""

from typing import Any

import pyarrow as pa

from minutehand_pipeline.simulate.arrivals import DONE, Arrivals, read_arrivals
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally

TYPES = {
    "known": pa.float64(), "due": pa.float64(), "queue": pa.string(), "kind": pa.string(), "key": pa.string(),
    "priority": pa.int32(), "die": pa.int64(), "max_attempts": pa.int32(), "timeout": pa.float64(),
    "retry": pa.string(), "memory_mb": pa.int32(), "runs": pa.list_(pa.float64()), "outcomes": pa.list_(pa.int32()),
    "gaps": pa.list_(pa.float64()),
}  # fmt: skip

# Without any of what a real fleet adds, so that every moment can be reckoned by hand.
BARE = {"worker_timeout": 60.0, "latency": 0.0, "cold": 0.0, "claim": 0.0, "finish": 0.0}


def job(due: float = 0.0, *runs: float, outcomes: list[int] | None = None, **facts: Any) -> dict[str, Any]:
    """A job that is known when it is due, and done at its first attempt after a second, unless said otherwise."""
    runs = runs or (1.0,)
    return {
        "known": due, "due": due, "queue": "default", "kind": "work", "key": None, "priority": 5, "die": 1,
        "max_attempts": 8, "timeout": None, "retry": None, "memory_mb": 512, "runs": list(runs),
        "outcomes": outcomes or [DONE] * len(runs), "gaps": [0.0] * len(runs),
    } | facts  # fmt: skip


def table(jobs: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        [each | {"die": number} for number, each in enumerate(jobs)], schema=pa.schema(TYPES)
    )


def arrivals(jobs: list[dict[str, Any]], since: float = -1e18, until: float = 1e18) -> Arrivals:
    return read_arrivals(table(jobs), since, until, named=True)


def play(jobs: list[dict[str, Any]], seed: int = 0, **policy: Any) -> Tally:
    """Play jobs under a bare policy with ticks at 0, 60, 120 and so on."""
    return Simulation(Policy(**(BARE | policy)), arrivals(jobs), seed).run()


def begun(jobs: list[dict[str, Any]], **policy: Any) -> list[float]:
    """When each job was first begun."""
    return [round(moment, 6) for moment in play(jobs, **policy).began]


def states(tally: Tally) -> dict[str, int]:
    """How many jobs ended how."""
    counts: dict[str, int] = {}
    for queue in tally.states():
        for state, count in queue.items():
            counts[state] = counts.get(state, 0) + count
    return counts
