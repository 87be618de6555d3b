"""From the lake's rows to arrivals, and from arrivals to results."""

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.schemas import ATTEMPTS, HOMES, JOBS
from minutehand_pipeline.simulate import measures
from minutehand_pipeline.simulate.arrivals import BACK, CANCELLED, DONE, FAILED, FINAL, LAPSED
from minutehand_pipeline.simulate.grid import expand_grid
from minutehand_pipeline.simulate.history import arrivals, recorded
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.simulate import SimulationConfig, simulate
from minutehand_pipeline.simulate.synthetic import generate_hour, parse_synthetic, synthetic_arrivals
from minutehand_pipeline.simulate.windows import (
    DAY,
    Split,
    simulate_idle_windows,
    simulate_windows,
    sum_windows,
)

CHANGE = datetime(2026, 3, 29, 0, 59, 50, tzinfo=UTC)  # ten seconds before Europe's clocks go forward


def at(seconds: float) -> datetime:
    return CHANGE + timedelta(seconds=seconds)


def job_row(job: str, state: str = "done", **facts: Any) -> dict[str, Any]:
    return {
        "day": CHANGE.date(),
        "id": job,
        "queue": "mail",
        "kind": "work",
        "state": state,
        "enqueued": at(0),
        "run_at": at(0),
        "deleted": at(100),
        "max_attempts": 3,
    } | facts


def attempt_row(
    job: str, attempt: int, started: float, seconds: float | None, outcome: str
) -> dict[str, Any]:
    ended = None if seconds is None else at(started + seconds)
    return {
        "day": CHANGE.date(),
        "job": job,
        "attempt": attempt,
        "started": at(started),
        "ended": ended,
        "queue": "mail",
        "kind": "work",
        "outcome": outcome,
        "memory_mb": 1024,
        "request": f"r{job}{attempt}",
    }


def frames(
    spark: SparkSession, jobs: list[dict[str, Any]], attempts: list[dict[str, Any]]
) -> tuple[DataFrame, DataFrame]:
    full = [[row.get(name) for name in JOBS.names] for row in jobs]
    tried = [[row.get(name) for name in ATTEMPTS.names] for row in attempts]
    return spark.createDataFrame(full, JOBS), spark.createDataFrame(tried, ATTEMPTS)


HISTORY = (
    [
        job_row("retried"),
        job_row("exhausted", "dead"),
        job_row("failed", "dead"),
        job_row("ended", "cancelled"),
        job_row("snoozed"),
        job_row("lost"),
        job_row("overlapping"),
        job_row("never", "cancelled"),
        job_row("again", "dead", deleted=at(50)),
        job_row("again"),
        job_row("bare", enqueued=None, run_at=None, max_attempts=None, priority=None),
    ],
    [
        attempt_row("retried", 1, 10, 5, "retrying"),
        attempt_row("retried", 2, 70, 4, "done"),
        *(attempt_row("exhausted", n, 10 * n, 1, "retrying" if n < 3 else "dead") for n in (1, 2, 3)),
        attempt_row("failed", 1, 10, 1, "dead"),
        attempt_row("ended", 1, 10, 1, "retrying"),
        attempt_row("snoozed", 1, 10, 1, "snoozed"),
        attempt_row("snoozed", 1, 41, 2, "done"),
        attempt_row("lost", 1, 10, None, "retrying"),
        attempt_row("lost", 2, 80, 300, "lapsed"),
        attempt_row("lost", 3, 90, 2, "done"),
        attempt_row("overlapping", 2, 40, 3, "done"),
        attempt_row("overlapping", 1, 10, 60, "retrying"),
        attempt_row("again", 1, 10, 1, "done"),
        attempt_row("bare", 1, 7200, 1, "unknown"),
    ],
)


def test_recorded_attempts_become_arrivals(spark: SparkSession) -> None:
    arrived = arrivals(*frames(spark, *HISTORY))
    rows = {(row["state"], tuple(row["outcomes"])): row for row in arrived.collect()}

    assert set(rows) == {
        ("done", (FAILED, DONE)),
        ("dead", (FAILED, FAILED, FAILED)),
        ("dead", (FINAL,)),
        ("cancelled", (CANCELLED,)),
        ("done", (BACK, DONE)),
        ("done", (LAPSED, LAPSED, DONE)),
        ("done", (DONE,)),
    }
    assert rows["done", (BACK, DONE)]["gaps"] == [pytest.approx(30.0), 0.0]
    assert rows["done", (LAPSED, LAPSED, DONE)]["runs"] == [0.0, 0.0, pytest.approx(2.0)]
    assert arrived.count() == 9  # of `again` the last end, and not `never`, which was never attempted
    overlapping = next(row for row in arrived.collect() if row["runs"][0] == pytest.approx(60.0))
    assert overlapping["runs"] == [pytest.approx(60.0), pytest.approx(3.0)]


def test_lake_with_unusual_rows_is_simulated(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    jobs, attempts = frames(spark, *HISTORY)
    append(jobs, lake, HOMES["jobs_done"], app="test", number=1)
    append(attempts, lake, HOMES["attempts"], app="test", number=1)

    day = CHANGE.date()
    policies = tuple(expand_grid([Policy()], ["max_attempts=none,1", "chunk=1,5"]))
    result = simulate(
        spark, SimulationConfig(lake=lake, since=day, until=day, policies=policies, out=tmp_path / "out")
    )

    assert (result.jobs, result.skipped) == (9, 1)
    assert result.recorded is not None
    assert (result.recorded.done, result.recorded.dead, result.recorded.cancelled) == (6, 2, 1)
    assert result.recorded.late_max == pytest.approx(10.0)
    dead = {each.policy: each.dead for each in result.simulated}
    assert dead["max_attempts=1 chunk=1"] > dead["max_attempts=None chunk=1"] == 2
    written = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert [each["policy"] for each in written["simulated"]] == [each.policy for each in result.simulated]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "simulation.json",
        "policies.parquet",
        "queues.parquet",
    }


def test_empty_lake_simulates_nothing(spark: SparkSession, tmp_path: Path) -> None:
    result = simulate(
        spark, SimulationConfig(lake=Lake(str(tmp_path)), since=date(2026, 1, 1), until=date(2026, 1, 2))
    )

    assert (result.jobs, result.simulated) == (0, ())
    assert result.recorded is not None
    assert (result.recorded.attempts, result.recorded.late["p50"], result.recorded.dollars) == (0, None, None)


def test_result_does_not_depend_on_partitioning(spark: SparkSession) -> None:
    policies = [Policy(capacity=5), Policy(capacity=50, chunk=5)]
    made = synthetic_arrivals(spark, parse_synthetic("rate=0.3,days=2,fails=0.2,burst=23:59+40"), 3)
    row = made.transform(recorded).collect()[0]

    def simulated(partitions: int, slices: int) -> list[Any]:
        split = Split(since=row["since"], until=row["until"] + 1, length=86_400.0, slices=slices)
        rows = simulate_windows(made.repartition(partitions), policies, split, 0).transform(sum_windows)
        return sorted(tuple(each) for each in rows.collect())

    assert simulated(1, 1) == simulated(2, 2)


def test_synthetic_arrivals_follow_the_rate_of_the_hour_and_bursts() -> None:
    rates = "/".join("120" if 8 <= hour < 18 else "0" for hour in range(24))
    process = parse_synthetic(f"rate={rates},days=2,start=2026-01-01,burst=23:59+40")
    batches = [batch for hour in range(48) for batch in generate_hour(process, 3, hour)]
    moments = [datetime.fromtimestamp(due, UTC) for batch in batches for due in batch["due"].to_pylist()]
    by_hour = Counter(moment.hour for moment in moments)

    assert set(by_hour) == {*range(8, 18), 23}
    assert all(by_hour[hour] == pytest.approx(2 * 120 * 60, rel=0.05) for hour in range(8, 18))
    assert Counter(moment for moment in moments if moment.hour == 23) == {
        datetime(2026, 1, day, 23, 59, tzinfo=UTC): 40 for day in (1, 2)
    }


def test_windows_count_every_job_and_attempt_once(spark: SparkSession) -> None:
    made = synthetic_arrivals(spark, parse_synthetic("rate=1,days=2,fails=0.2,burst=23:59+40"), 3)
    row = made.transform(recorded).collect()[0]

    def sums(length: float | None) -> Any:
        split = Split(since=row["since"], until=row["until"] + 1, length=length)
        return simulate_windows(made, [Policy(capacity=10)], split, 0).transform(sum_windows).collect()[0]

    whole, split = sums(None), sums(86_400.0)
    for name in ("done", "attempts", "ticks"):
        assert split[name] == whole[name]
    assert split["invocations"] == pytest.approx(whole["invocations"])
    assert split["percentiles"] == pytest.approx(whole["percentiles"], rel=0.02)


def test_windows_without_jobs_have_ticks(spark: SparkSession) -> None:
    made = synthetic_arrivals(spark, parse_synthetic("rate=1,days=6"), 3)
    first = made.transform(recorded).collect()[0]["since"] // DAY
    made = made.where((F.col("due") < (first + 1) * DAY) | (F.col("due") >= (first + 5) * DAY))
    row = made.transform(recorded).collect()[0]
    policies = [Policy(capacity=10), Policy(capacity=10, mode="sleep")]

    def sums(length: float | None) -> list[Any]:
        split = Split(since=row["since"], until=row["until"] + 1, length=length)
        measured = simulate_windows(made, policies, split, 0)
        idle = simulate_idle_windows(made, policies, split, 0)
        measured = measured.union(spark.createDataFrame(idle, measures.SCHEMA)) if idle else measured
        return sorted(measured.transform(sum_windows).collect(), key=lambda each: each["policy"])

    for whole, split in zip(sums(None), sums(DAY), strict=True):
        assert (split["done"], split["ticks"]) == (whole["done"], whole["ticks"])


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"lake": Lake("x"), "synthetic": parse_synthetic("rate=1")},
        {"lake": Lake("x"), "policies": ()},
        {"lake": Lake("x"), "since": date(2026, 2, 1), "until": date(2026, 1, 1)},
    ],
    ids=str,
)
def test_invalid_simulation_config_is_rejected(facts: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        SimulationConfig(**facts)
