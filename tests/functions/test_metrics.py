"""The metrics in CloudWatch are those of the table, with its units."""

import json
from collections.abc import Mapping
from typing import Any

from minutehand.events import hooks
from minutehand.metrics.table import METRICS
from tests.functions.fleet import Fleet, event

UNITS = {"ms": "Milliseconds", "%": "Percent", "1": "Count"}
# Only in the mode `sleep`.
OF_SLEEP = {"failed_wakeups"}


def units(output: str) -> dict[str, dict[str, str]]:
    """Return the units of the metrics in an output, by service and name."""
    found: dict[str, dict[str, str]] = {}
    for line in map(json.loads, output.splitlines()):
        for described in line.get("_aws", {}).get("CloudWatchMetrics", ()):
            of_service = found.setdefault(line["service"], {})
            of_service |= {metric["Name"]: metric["Unit"] for metric in described["Metrics"]}
    return found


def of_table(*sources: str) -> dict[str, str]:
    return {
        name: UNITS[metric.unit]
        for name, metric in METRICS.items()
        if metric.in_cloudwatch and any(source in sources for source in metric.source.split(", "))
    }


def test_dispatcher_writes_the_metrics_of_the_table(fleet: Fleet) -> None:
    fleet.enqueue()

    fleet.tick(event("scheduler-tick"))

    found = units(fleet.read_output())["dispatcher"]
    assert found == {name: unit for name, unit in of_table("dispatcher").items() if name not in OF_SLEEP}


def test_worker_writes_metrics_of_the_table(fleet: Fleet) -> None:
    invitation = event("worker-offers")
    fleet.offer(invitation["offers"])

    fleet.work(invitation)

    found = units(fleet.read_output())["worker"]
    assert {"claimed", "unclaimed", "taken", "empty", "done"} == found.keys()
    assert found.items() <= of_table("worker").items()


def test_figures_of_ticks_and_invocations_reach_functions(fleet: Fleet) -> None:
    seen: list[Mapping[str, Any]] = []
    hooks.on_figures(seen.append)
    try:
        fleet.enqueue()
        facts = fleet.tick({})
        fleet.work(fleet.aws.events[0])
    finally:
        hooks.off_figures(seen.append)

    assert seen[0] == facts
    assert seen[1] == {"claimed": 1, "unclaimed": 0, "taken": 0, "empty": 0, "done": 1}
