"""Run: read a history or make one up, play it under every policy, and say how each did, the best first."""

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
from minutehand_pipeline.report.window import check_lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.simulate.grid import to_json
from minutehand_pipeline.simulate.history import arrivals, invocations, recorded
from minutehand_pipeline.simulate.play import DAY, Dealt, play, summed
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.result import Played, of_played, of_recorded, ranked
from minutehand_pipeline.simulate.synthetic import Synthetic, synthetic_arrivals
from minutehand_pipeline.sources.lake import read_lake

MARK = "simulation.json"
MOST_SLICES = 16  # each has the history shipped once more
FIRST = date(1970, 1, 1)  # day that can be asked for
EARLIER = timedelta(days=7)  # how long before the first day attempts are looked for, at jobs that ended in it


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to simulate: the lake at `lake`, of the days from `since` to `until`, or the arrivals of `synthetic`.

    `exact` plays all of the history as one window, which one task does for each policy and in whose memory it has to
    fit; else each UTC day is one, with `carry` seconds of its neighbours. `out` is a folder for the results.
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
        """Refuse what cannot be played."""
        if (self.lake is None) == (self.synthetic is None):
            raise InputError("say a lake, or synthetic arrivals, and not both")
        if self.since and self.until and self.since > self.until:
            raise InputError("since is after until")
        if min(self.since or FIRST, self.until or FIRST) < FIRST:
            raise InputError(f"the days are from {FIRST} on")
        if not self.policies:
            raise InputError("say at least one policy")
        if not 0 <= self.carry <= DAY:
            raise InputError("carry is 0 to 86400 seconds")


@dataclass(frozen=True, kw_only=True)
class Result:
    """How it was, if it was recorded, and how it would have been; `unplayed` jobs have no attempt in the lake."""

    jobs: int
    unplayed: int = 0
    recorded: Played | None = None
    played: tuple[Played, ...] = ()
    policies: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


def run(spark: SparkSession, config: Config, *, dry: bool = False) -> Result:
    """Simulate; with `dry` only read the history, and say what of it would be played.

    Raises LakeError for what is no lake.
    """
    if config.lake is not None:
        check_lake(config.lake)
    arrived, requests, found = _arrived(spark, config)
    arrived = arrived.persist()
    try:
        row = arrived.transform(recorded).collect()[0].asDict()
        result = Result(
            jobs=row["jobs"], unplayed=max(0, found - row["jobs"]), recorded=_recorded(row, requests)
        )
        if dry or not row["jobs"]:
            return result
        return _played(arrived, config, result, _dealt(spark, config, row))
    finally:
        arrived.unpersist()


def _arrived(spark: SparkSession, config: Config) -> tuple[DataFrame, DataFrame | None, int]:
    """Return the arrivals, the number of invocations, and how many jobs there were."""
    if config.synthetic is not None:
        return synthetic_arrivals(spark, config.synthetic, config.seed), None, 0
    assert config.lake is not None
    jobs = read_lake(spark, config.lake, HOMES["jobs_done"], since=config.since, until=config.until)
    earlier = config.since - EARLIER if config.since else None
    attempts = read_lake(spark, config.lake, HOMES["attempts"], since=earlier, until=config.until)
    played = attempts.join(jobs.select(F.col("id").alias("job")), on="job", how="left_semi")
    count = jobs.agg(F.count_distinct("id").alias("jobs")).collect()[0]["jobs"]
    return arrivals(jobs, attempts), played.transform(invocations), count


def _recorded(row: Mapping[str, Any], requests: DataFrame | None) -> Played | None:
    if requests is None:
        return None
    return of_recorded(row, requests.collect()[0]["invocations"])


def _dealt(spark: SparkSession, config: Config, row: Mapping[str, Any]) -> Dealt:
    """Deal the history out so that every core has something to play."""
    since, until = float(math.floor(row["since"])), math.floor(row["until"]) + 1.0
    windows = 1 if config.exact else int(until // DAY - since // DAY) + 1
    cores = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    return Dealt(
        since=since, until=until, length=None if windows == 1 else DAY, carry=config.carry,
        slices=min(len(config.policies), math.ceil(cores / windows), MOST_SLICES),
    )  # fmt: skip


def _played(arrived: DataFrame, config: Config, result: Result, dealt: Dealt) -> Result:
    rows = play(arrived, config.policies, dealt, config.seed).persist()
    try:
        sums = {row["policy"]: row.asDict() for row in rows.transform(summed).collect()}
        found = [of_played(sums[place], policy) for place, policy in enumerate(config.policies)]
        result = Result(
            jobs=result.jobs, unplayed=result.unplayed, recorded=result.recorded,
            played=tuple(ranked(found, config.rank)), policies=tuple(to_json(policy) for policy in config.policies),
        )  # fmt: skip
        if config.out is not None:
            _write(config.out, result, rows, config)
        return result
    finally:
        rows.unpersist()


def _write(out: Path, result: Result, rows: DataFrame, config: Config) -> None:
    """Write the result as JSON, and policies and queues as Parquet."""
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text(json.dumps(asdict(result), indent=1))
    facts = [{**asdict(each), **each.late, "late": None, "histogram": None} for each in result.played]
    kept = [
        {name: value for name, value in each.items() if name not in ("late", "histogram")} for each in facts
    ]
    pq.write_table(pa.Table.from_pylist(kept), out / "policies.parquet")
    names = [policy.name or "given" for policy in config.policies]
    by_queue = rows.where(F.col("queue").isNotNull()).transform(summed, "queue").collect()
    queues = [{**row.asDict(), "policy": names[row["policy"]]} for row in by_queue]
    pq.write_table(pa.Table.from_pylist(queues), out / "queues.parquet")
