"""The simulator compared with the real dispatcher and real workers.

A few hundred jobs of two queues, with bursts, retries, priorities and chunks, and with a limiting capacity and
concurrency, run on a real server with a simulated clock. Their rows are archived to a lake and simulated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from minutehand.model.retry import Retry
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.queue.source import register
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.result import PolicyResult
from minutehand_pipeline.simulate.simulate import SimulationConfig, simulate
from tests.pipeline.simulate.real_run import START, RealRun, settings

pytestmark = pytest.mark.long

INTERVAL, CAPACITY, CHUNK, CONCURRENCY, LATENCY, TTL = 20.0, 24, 3, 5, 0.5, 15.0
JOBS = 400
RETRY = Retry(strategy="exponential", min=timedelta(seconds=30), factor=2.0, jitter=False)
LATE = {"p50": 50, "p90": 90, "p99": 99}

POLICY = Policy(
    interval=INTERVAL,
    phase=START.timestamp(),
    capacity=CAPACITY,
    chunk=CHUNK,
    jobs_per_invocation=1,
    concurrency=CONCURRENCY,
    worker_timeout=60.0,
    latency=LATENCY,
    offer_ttl=TTL,
    cold=0.0,
    claim=0.0,
    finish=0.0,
)


@dataclass(frozen=True)
class Measured:
    """What the real dispatcher and workers did."""

    url: str
    invocations: int
    late: dict[str, float]
    attempts: int
    dead: int
    lapsed: int


@pytest.fixture(scope="module")
def measured(servers: Any) -> Iterator[Measured]:
    """Run the real dispatcher and workers."""
    address = servers.address("direct-18")
    database = address.make(migrated=False)
    with pytest.MonkeyPatch.context() as patch:
        run = RealRun(
            database,
            settings(capacity=CAPACITY, chunk=CHUNK, offer_ttl=timedelta(seconds=TTL)),
            patch,
            concurrency=CONCURRENCY,
            latency=LATENCY,
        )
        enqueue_a_morning(run)
        run.ticks(INTERVAL, 3600)
        run.live()
        yield measure(run, database.admin_url)
        run.close()
    address.drop(database)


def enqueue_a_morning(run: RealRun) -> None:
    """Enqueue two bursts and regular arrivals; jobs fail never, once or always."""
    chance = np.random.default_rng(7)
    moments = [*np.repeat([1.0, 300.0], 100), *np.sort(chance.uniform(0, 900, JOBS - 200))]
    for number, moment in enumerate(moments):
        fails = int(chance.choice([0, 0, 0, 0, 1, 3]))
        runs = [round(float(seconds), 3) for seconds in chance.uniform(1, 9, 4)]
        run.enqueue(
            moment + number / 1000,
            runs,
            fails,
            queue="mail" if number % 3 else "reports",
            max_attempts=3,
            retry=RETRY,
            priority=9 if number % 10 == 0 else 5,
        )


def measure(run: RealRun, url: str) -> Measured:
    connection = run._database.connection
    late = connection.execute("""
        select extract(epoch from min(a.started) - j.run_at)::float8
          from minutehand.attempts a join minutehand.jobs j on j.id = a.job group by j.id, j.run_at""").fetchall()
    ((attempts, dead),) = connection.execute("""
        select (select count(*) from minutehand.attempts), (select count(*) from minutehand.jobs_done where failed)
        """).fetchall()
    ((left,),) = connection.execute("select count(*) from minutehand.jobs_live").fetchall()
    assert (len(late), left) == (JOBS, 0)
    percentiles = {name: float(np.percentile([each for (each,) in late], q)) for name, q in LATE.items()}
    return Measured(url, run.invocations, percentiles, attempts, dead, 0)


@pytest.fixture(scope="module")
def lake(measured: Measured, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """The recorded rows in a lake."""
    recorded = Lake(str(tmp_path_factory.mktemp("lake")))
    url = tmp_path_factory.mktemp("url") / "url"
    url.write_text(measured.url)
    register(spark)
    for name in ("jobs_done", "attempts"):
        reader = spark.read.format("minutehand").option("url_file", str(url)).option("partitions", "1")
        append(reader.option("table", name).load(), recorded, HOMES[name], app="test", number=1)
    return recorded


def simulated(spark: SparkSession, lake: Lake, policy: Policy = POLICY) -> PolicyResult:
    (result,) = simulate(spark, SimulationConfig(lake=lake, policies=(policy,))).simulated
    return result


def differences(result: PolicyResult, measured: Measured) -> dict[str, float]:
    """Return the relative errors of the simulation."""
    assert result.invocations is not None
    off = {name: abs((result.late[name] or 0.0) - late) / late for name, late in measured.late.items()}
    return off | {"invocations": abs(result.invocations - measured.invocations) / measured.invocations}


def test_simulation_is_within_10_percent_of_real_run(
    spark: SparkSession, lake: Lake, measured: Measured
) -> None:
    result = simulated(spark, lake)

    off = differences(result, measured)
    assert max(off.values()) < 0.1, off
    assert (result.jobs, result.attempts, result.dead) == (JOBS, measured.attempts, measured.dead)


def test_as_recorded_result_reproduces_the_history(
    spark: SparkSession, lake: Lake, measured: Measured
) -> None:
    recorded = simulate(spark, SimulationConfig(lake=lake), dry_run=True).recorded

    assert recorded is not None
    assert recorded.invocations == measured.invocations
    assert (recorded.attempts, recorded.dead) == (measured.attempts, measured.dead)
    for name, late in measured.late.items():
        assert recorded.late[name] == pytest.approx(late, rel=0.05)
