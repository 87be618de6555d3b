"""Small histories, one line per job, and their simulation."""

from typing import Any

import pyarrow as pa

from minutehand_pipeline.simulate.arrivals import DONE, Arrivals, read_arrivals
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally

TYPES = {
    "known": pa.float64(),
    "due": pa.float64(),
    "queue": pa.string(),
    "kind": pa.string(),
    "key": pa.string(),
    "group": pa.string(),
    "tenant": pa.string(),
    "batch": pa.string(),
    "follows": pa.string(),
    "priority": pa.int32(),
    "salt": pa.int64(),
    "max_attempts": pa.int32(),
    "timeout": pa.float64(),
    "retry": pa.string(),
    "memory_mb": pa.int32(),
    "runs": pa.list_(pa.float64()),
    "outcomes": pa.list_(pa.int32()),
    "gaps": pa.list_(pa.float64()),
}

# Without overhead, so that every time is exact. Workers take no further jobs.
BARE = {
    "jobs_per_invocation": 1,
    "worker_timeout": 60.0,
    "latency": 0.0,
    "cold": 0.0,
    "claim": 0.0,
    "finish": 0.0,
}


def job(due: float = 0.0, *runs: float, outcomes: list[int] | None = None, **facts: Any) -> dict[str, Any]:
    """Return a job; by default it is known when due, and done after one attempt of a second."""
    runs = runs or (1.0,)
    return {
        "known": due,
        "due": due,
        "queue": "default",
        "kind": "work",
        "key": None,
        "group": None,
        "tenant": None,
        "batch": None,
        "follows": None,
        "priority": 5,
        "salt": 1,
        "max_attempts": 8,
        "timeout": None,
        "retry": None,
        "memory_mb": 512,
        "runs": list(runs),
        "outcomes": outcomes or [DONE] * len(runs),
        "gaps": [0.0] * len(runs),
    } | facts


def table(jobs: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        [each | {"salt": number} for number, each in enumerate(jobs)], schema=pa.schema(TYPES)
    )


def arrivals(jobs: list[dict[str, Any]], since: float = -1e18, until: float = 1e18) -> Arrivals:
    return read_arrivals(table(jobs), since, until, with_names=True)


def simulated(jobs: list[dict[str, Any]], seed: int = 0, **policy: Any) -> Tally:
    """Simulate jobs under a policy without overhead, with ticks at 0, 60, 120 and so on."""
    return Simulation(Policy(**(BARE | policy)), arrivals(jobs), seed).run()


def starts(jobs: list[dict[str, Any]], **policy: Any) -> list[float]:
    """Return when each job was started."""
    return [round(moment, 6) for moment in simulated(jobs, **policy).began]


def states(tally: Tally) -> dict[str, int]:
    """Return the number of jobs by state."""
    counts: dict[str, int] = {}
    for queue in tally.states():
        for state, count in queue.items():
            counts[state] = counts.get(state, 0) + count
    return counts
