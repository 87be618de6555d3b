"""The simulator against the real thing: what the dispatcher and the workers did, and what it says that they did.

A few hundred jobs of two queues, with bursts, retries, a priority, a capacity and a concurrency that bind and chunks,
go through the real dispatcher and real workers, on a real server, in a time that the test makes. Their rows go to a
lake as an archive's do, and are read back and played as anyone's are.
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
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.result import Played
from minutehand_pipeline.simulate.run import Config, run
from minutehand_pipeline.sources.lake import append
from minutehand_pipeline.sources.queue import register
from tests.pipeline.simulate.world import START, World, settings

INTERVAL, CAPACITY, CHUNK, CONCURRENCY, LATENCY, TTL = 20.0, 24, 3, 5, 0.5, 15.0
JOBS = 400
RETRY = Retry(strategy="exponential", min=timedelta(seconds=30), factor=2.0, jitter=False)
LATE = {"p50": 50, "p90": 90, "p99": 99}

POLICY = Policy(
    interval=INTERVAL, phase=START.timestamp(), capacity=CAPACITY, chunk=CHUNK, concurrency=CONCURRENCY,
    latency=LATENCY, offer_ttl=TTL, cold=0.0, claim=0.0, finish=0.0,
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What really happened."""

    url: str
    invocations: int
    late: dict[str, float]
    attempts: int
    dead: int
    lapsed: int


@pytest.fixture(scope="module")
def measured(servers: Any) -> Iterator[Measured]:
    """A run of the real dispatcher and workers."""
    address = servers.address("direct-18")
    database = address.make(migrated=False)
    with pytest.MonkeyPatch.context() as patch:
        world = World(
            database, settings(capacity=CAPACITY, chunk=CHUNK, offer_ttl=timedelta(seconds=TTL)), patch,
            concurrency=CONCURRENCY, latency=LATENCY,
        )  # fmt: skip
        enqueue_a_morning(world)
        world.ticks(INTERVAL, 3600)
        world.live()
        yield measure(world, database.admin_url)
        world.close()
    address.drop(database)


def enqueue_a_morning(world: World) -> None:
    """Bursts at the beginning and later, a trickle between, jobs of two queues that fail none, one or every time."""
    chance = np.random.default_rng(7)
    moments = [*np.repeat([1.0, 300.0], 100), *np.sort(chance.uniform(0, 900, JOBS - 200))]
    for number, moment in enumerate(moments):
        fails = int(chance.choice([0, 0, 0, 0, 1, 3]))
        runs = [round(float(run), 3) for run in chance.uniform(1, 9, 4)]
        world.enqueue(
            moment + number / 1000, runs, fails, queue="mail" if number % 3 else "reports", max_attempts=3,
            retry=RETRY, priority=9 if number % 10 == 0 else 5,
        )  # fmt: skip


def measure(world: World, url: str) -> Measured:
    connection = world._database.connection
    late = connection.execute("""
        select extract(epoch from min(a.started) - j.run_at)::float8
          from minutehand.attempts a join minutehand.jobs j on j.id = a.job group by j.id, j.run_at""").fetchall()
    ((attempts, dead),) = connection.execute("""
        select (select count(*) from minutehand.attempts), (select count(*) from minutehand.jobs_done where failed)
        """).fetchall()
    ((left,),) = connection.execute("select count(*) from minutehand.jobs_live").fetchall()
    assert (len(late), left) == (JOBS, 0)
    percentiles = {name: float(np.percentile([each for (each,) in late], q)) for name, q in LATE.items()}
    return Measured(url, world.invocations, percentiles, attempts, dead, 0)


@pytest.fixture(scope="module")
def lake(measured: Measured, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """What was recorded, carried to a lake."""
    kept = Lake(str(tmp_path_factory.mktemp("lake")))
    url = tmp_path_factory.mktemp("url") / "url"
    url.write_text(measured.url)
    register(spark)
    for name in ("jobs_done", "attempts"):
        reader = spark.read.format("minutehand").option("url_file", str(url)).option("partitions", "1")
        append(reader.option("home", name).load(), kept, HOMES[name], app="test", number=1)
    return kept


def simulated(spark: SparkSession, lake: Lake, policy: Policy = POLICY) -> Played:
    (played,) = run(spark, Config(lake=lake, policies=(policy,))).played
    return played


def differences(played: Played, measured: Measured) -> dict[str, float]:
    """How far off the simulation is, as a share of what was measured."""
    assert played.invocations is not None
    off = {name: abs((played.late[name] or 0.0) - late) / late for name, late in measured.late.items()}
    return off | {"invocations": abs(played.invocations - measured.invocations) / measured.invocations}


def test_a_simulation_of_a_recorded_run_is_within_a_tenth_of_what_was_measured(
    spark: SparkSession, lake: Lake, measured: Measured
) -> None:
    played = simulated(spark, lake)

    off = differences(played, measured)
    assert max(off.values()) < 0.1, off
    assert (played.jobs, played.attempts, played.dead) == (JOBS, measured.attempts, measured.dead)


def test_what_is_said_as_recorded_is_what_was_measured(
    spark: SparkSession, lake: Lake, measured: Measured
) -> None:
    recorded = run(spark, Config(lake=lake), dry=True).recorded

    assert recorded is not None
    assert recorded.invocations == measured.invocations
    assert (recorded.attempts, recorded.dead) == (measured.attempts, measured.dead)
    for name, late in measured.late.items():
        assert recorded.late[name] == pytest.approx(late, rel=0.05)
