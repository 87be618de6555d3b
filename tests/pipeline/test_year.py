"""The benchmark of a year runs each command on all of its jobs, and can be published."""

import pytest

from bench.others import alone
from bench.page.year import year_runs
from bench.recorded import recorded
from bench.results import Year
from bench.server import migrated
from tests.servers import Servers

pytestmark = pytest.mark.long


def test_commands_of_a_year_are_measured(servers: Servers) -> None:
    server = servers.address("direct-18").url

    measured: Year = alone("pipeline_year", migrated(server), 2000, 2, "now")

    assert (measured.jobs, measured.attempts) == (2000, 2100)
    assert list(measured.steps) == ["archive", "report", "report, no new day", "erase a tenant", "simulate"]
    assert all(
        0 < step.java < step.memory for name, step in measured.steps.items() if name in ("archive", "report")
    )
    assert "| archive |" in year_runs(measured, {})
    assert len(recorded(1)["pipeline-year"].lines(measured)) == len(measured.steps)
