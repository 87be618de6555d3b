"""Read a history or generate one, simulate it under every policy, and rank the results."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.lake.readers import marked_reader
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.simulate import measures
from minutehand_pipeline.simulate.grid import policy_to_dict
from minutehand_pipeline.simulate.history import arrivals, invocations, recorded
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.result import PolicyResult, rank, recorded_result, simulated_result
from minutehand_pipeline.simulate.synthetic import Synthetic, synthetic_arrivals
from minutehand_pipeline.simulate.windows import (
    DAY,
    Split,
    simulate_idle_windows,
    simulate_windows,
    sum_windows,
)

MARK = "simulation.json"
CONTENT = {MARK, "policies.parquet", "queues.parquet"}
# Each slice copies the history once more.
MAX_SLICES = 16
FIRST_DAY = date(1970, 1, 1)
# Jobs that ended on the first day may have had attempts on earlier days.
LOOK_BACK = timedelta(days=7)


@dataclass(frozen=True, kw_only=True)
class SimulationConfig:
    """What to simulate: the lake from day `since` to `until`, or synthetic arrivals.

    `exact` simulates all days as one window, in one task per policy, whose memory must hold all jobs. Otherwise each
    UTC day is a window, with `carry` seconds of its neighbours. `out` is a folder for the results.
    """

    lake: Lake | None = None
    synthetic: Synthetic | None = None
    since: date | None = None
    until: date | None = None
    policies: tuple[Policy, ...] = (Policy(),)
    seed: int = 0
    exact: bool = False
    carry: float = 3600.0
    rank: str = "late"
    out: Path | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        if (self.lake is None) == (self.synthetic is None):
            got = "both" if self.lake else "neither"
            raise InputError(f"expected a lake or --synthetic, got {got}")
        if self.since and self.until and self.since > self.until:
            raise InputError(f"since must not be after until, got {self.since} and {self.until}")
        if min(self.since or FIRST_DAY, self.until or FIRST_DAY) < FIRST_DAY:
            raise InputError(f"since and until must not be before {FIRST_DAY}")
        if not self.policies:
            raise InputError("expected at least one policy, got none")
        if not 0 <= self.carry <= DAY:
            raise InputError(f"carry must be from 0 to 86400 seconds, got {self.carry}")


@dataclass(frozen=True, kw_only=True)
class SimulationResult:
    """The recorded history, if any, and the result of each policy. `skipped` jobs have no attempt in the lake."""

    jobs: int
    skipped: int = 0
    recorded: PolicyResult | None = None
    simulated: tuple[PolicyResult, ...] = ()
    policies: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


def simulate(spark: SparkSession, config: SimulationConfig, *, dry_run: bool = False) -> SimulationResult:
    """Simulate the policies. A dry run only reads the history. Raises LakeError."""
    if config.lake is None:
        return _result(spark, config, dry_run)
    config.lake.check_exists()
    with marked_reader(config.lake):
        return _result(spark, config, dry_run)


def _result(spark: SparkSession, config: SimulationConfig, dry_run: bool) -> SimulationResult:
    arrived, requests, found = _arrivals(spark, config)
    arrived = arrived.persist()
    try:
        row = arrived.transform(recorded).collect()[0].asDict()
        history = None if requests is None else recorded_result(row, requests.collect()[0]["invocations"])
        result = SimulationResult(jobs=row["jobs"], skipped=max(0, found - row["jobs"]), recorded=history)
        if dry_run or not row["jobs"]:
            return result
        return _simulate(arrived, config, result, _split(spark, config, row))
    finally:
        arrived.unpersist()


def _arrivals(spark: SparkSession, config: SimulationConfig) -> tuple[DataFrame, DataFrame | None, int]:
    """Return the arrivals, the number of invocations, and the number of jobs in the lake."""
    if config.synthetic is not None:
        return synthetic_arrivals(spark, config.synthetic, config.seed), None, 0
    assert config.lake is not None
    jobs = read_lake(spark, config.lake, HOMES["jobs_done"], since=config.since, until=config.until)
    earlier = config.since - LOOK_BACK if config.since else None
    attempts = read_lake(spark, config.lake, HOMES["attempts"], since=earlier, until=config.until)
    of_jobs = attempts.join(jobs.select(F.col("id").alias("job")), on="job", how="left_semi")
    count = jobs.agg(F.count_distinct("id").alias("jobs")).collect()[0]["jobs"]
    return arrivals(jobs, attempts), of_jobs.transform(invocations), count


def _split(spark: SparkSession, config: SimulationConfig, row: Mapping[str, Any]) -> Split:
    """Split the history so that every core has work."""
    since, until = float(math.floor(row["since"])), math.floor(row["until"]) + 1.0
    windows = 1 if config.exact else int(until // DAY - since // DAY) + 1
    cores = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    return Split(
        since=since,
        until=until,
        length=None if windows == 1 else DAY,
        carry=config.carry,
        slices=min(len(config.policies), math.ceil(cores / windows), MAX_SLICES),
    )


def _simulate(
    arrived: DataFrame, config: SimulationConfig, result: SimulationResult, split: Split
) -> SimulationResult:
    measured = simulate_windows(arrived, config.policies, split, config.seed)
    if idle := simulate_idle_windows(arrived, config.policies, split, config.seed):
        measured = measured.union(arrived.sparkSession.createDataFrame(idle, measures.SCHEMA))
    measured.persist()
    try:
        sums = {row["policy"]: row.asDict() for row in measured.transform(sum_windows).collect()}
        results = [simulated_result(sums[index], policy) for index, policy in enumerate(config.policies)]
        result = SimulationResult(
            jobs=result.jobs,
            skipped=result.skipped,
            recorded=result.recorded,
            simulated=tuple(rank(results, config.rank)),
            policies=tuple(policy_to_dict(policy) for policy in config.policies),
        )
        if config.out is not None:
            _write(config.out, result, measured, config)
        return result
    finally:
        measured.unpersist()


def _write(out: Path, result: SimulationResult, measured: DataFrame, config: SimulationConfig) -> None:
    """Write the result as JSON, and policies and queues as Parquet."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text(json.dumps(asdict(result), indent=1))
    nested = ("late", "histogram")
    policies = [
        {**{name: value for name, value in asdict(each).items() if name not in nested}, **each.late}
        for each in result.simulated
    ]
    pq.write_table(pa.Table.from_pylist(policies), out / "policies.parquet")
    names = [policy.name or "given" for policy in config.policies]
    by_queue = measured.where(F.col("queue").isNotNull()).transform(sum_windows, "queue").collect()
    queues = [{**row.asDict(), "policy": names[row["policy"]]} for row in by_queue]
    pq.write_table(pa.Table.from_pylist(queues), out / "queues.parquet")
