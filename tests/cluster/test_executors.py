"""The benchmark of executors runs both commands on a cluster of each size, and can be published."""

import pytest

from bench.page.year import executor_runs
from bench.pipeline_executors import measure
from bench.recorded import recorded
from bench.server import migrated
from tests.servers import Servers

pytestmark = pytest.mark.long


def test_commands_are_measured_with_each_number_of_executors(servers: Servers) -> None:
    server = servers.address("direct-18").url

    measured = measure(migrated(server), 200, (1,), "now")

    assert (measured.jobs, measured.rows) == (200, 640)
    assert list(measured.seconds) == ["1"]
    assert "| 1 |" in executor_runs(measured)
    assert len(recorded(1)["pipeline-executors"].lines(measured)) == 1
