"""The simulator compared with the functions in the emulator, in each mode."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from minutehand.costs.report import MODES
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.queue.source import register
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.simulate.policy import Limit, Policy
from minutehand_pipeline.simulate.result import PolicyResult
from minutehand_pipeline.simulate.simulate import SimulationConfig, simulate
from tests.lambda_faults.stage import template
from tests.pipeline.simulate.emulator_run import (
    CAPACITY,
    CHUNK,
    INTERVAL,
    OF_KIND,
    EmulatorRun,
    add_handlers,
    run,
)
from tests.servers import Servers

pytestmark = pytest.mark.long

LATE = {"p50": 50, "p90": 90, "p99": 99}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = template(tmp_path_factory.mktemp("stack"))
    add_handlers(found)
    return found


@pytest.fixture(scope="module", params=MODES)
def compared(
    request: pytest.FixtureRequest,
    servers: Servers,
    tree: Path,
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[EmulatorRun, PolicyResult]]:
    """The run in a mode, and the simulation of its history."""
    mode, address = request.param, servers.address("direct-18")
    database = address.make()
    found = run(mode, database, tree)
    url, lake = tmp_path_factory.mktemp("url") / "url", Lake(str(tmp_path_factory.mktemp("lake")))
    url.write_text(database.admin_url)
    register(spark)
    for name in ("jobs_done", "attempts"):
        reader = spark.read.format("minutehand").option("url_file", str(url)).option("partitions", "1")
        append(reader.option("table", name).load(), lake, HOMES[name], app="test", number=1)
    policy = Policy(
        mode=mode,
        interval=INTERVAL[mode],
        phase=found.phase,
        capacity=CAPACITY,
        chunk=CHUNK,
        worker_timeout=60.0,
        wakeup_delay=0.0,
        cold=0.0,
        limits=(Limit(limit=OF_KIND, kind="slow"), Limit(limit=1, queue="default", per="group")),
    )
    (result,) = simulate(spark, SimulationConfig(lake=lake, policies=(policy,))).simulated
    yield found, result
    address.drop(database)


def test_simulated_lateness_is_within_10_percent(compared: tuple[EmulatorRun, PolicyResult]) -> None:
    found, result = compared
    measured = {name: float(np.percentile(found.late, q)) for name, q in LATE.items()}
    off = {name: abs((result.late[name] or 0.0) / late - 1) for name, late in measured.items()}
    print(found.jobs, found.attempts, off)

    assert (result.jobs, result.attempts, result.dead) == (found.jobs, found.attempts, found.dead)
    assert max(off.values()) < 0.1, (measured, result.late)
