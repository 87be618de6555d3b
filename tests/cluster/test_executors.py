"""The benchmark of executors runs both commands on a cluster, and its result can be published."""

from pathlib import Path

import pytest

from bench import results
from bench.page.year import executor_runs
from bench.pipeline_executors import measure
from bench.queues.publish import publish_record
from bench.recorded import recorded
from bench.server import migrated
from tests.servers import Servers

pytestmark = pytest.mark.long


def test_commands_are_measured_with_an_executor(servers: Servers, tmp_path: Path) -> None:
    server = servers.address("direct-18").url

    measured = measure(migrated(server), 200, (1,), "now")

    assert (measured.jobs, measured.rows) == (200, 640)
    assert list(measured.seconds) == ["1"]
    assert "| 1 |" in executor_runs(measured)
    benchmark = recorded(1)["pipeline-executors"]
    assert len(benchmark.lines(measured)) == 1
    published = tmp_path / "results.json"
    publish_record(benchmark.field, measured, published)
    assert results.load(published).executors == measured
