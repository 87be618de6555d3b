"""Alarms and the dashboard use existing metrics."""

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from minutehand.metrics.table import METRICS
from minutehand.model.outcome import Ending
from tests.template.cases import CASES, TOPIC
from tests.template.stack import Properties, Stack

OURS = "minutehand/minutehand"
AWS = {
    "AWS/Lambda": {
        "Invocations",
        "Errors",
        "Throttles",
        "ConcurrentExecutions",
        "AsyncEventAge",
        "AsyncEventsDropped",
        "RecursiveInvocationsDropped",
    },
    "AWS/SQS": {"ApproximateNumberOfMessagesVisible"},
    "AWS/Scheduler": {"InvocationDroppedCount"},
    "AWS/ApiGateway": {"Count", "4xx", "5xx", "Latency"},
}
BELONGS = {
    "AWS/Lambda": "FunctionName",
    "AWS/SQS": "QueueName",
    "AWS/Scheduler": "ScheduleGroup",
    "AWS/ApiGateway": "ApiId",
    OURS: "service",
}
# Metrics that a healthy stack always emits. Others may be missing.
MUST_BE_THERE = {"DispatcherDeadAlarm"}

Metric = tuple[str, str, str, str]  # namespace, name, dimension, its value


def alarms(stack: Stack, case: str = "existing") -> dict[str, Properties]:
    return stack.deployed(**CASES[case]).of_type("AWS::CloudWatch::Alarm")


def measured(function: str) -> set[str]:
    """Return the names of the metrics that a function writes; tests/functions/test_metrics.py compares them."""
    return {
        name
        for name, metric in METRICS.items()
        if metric.in_cloudwatch and function in metric.source.split(", ")
    }


def named(value: Any) -> str:
    """Resolve a text of the template for the stack `minutehand`."""
    if isinstance(value, dict):
        ((_, value),) = value.items()
    text = value if isinstance(value, str) else ".".join(value)
    return text.replace("${AWS::StackName}", "minutehand")


def watched(alarm: Properties) -> Iterator[Metric]:
    """Return the metrics of an alarm."""
    stats = [entry["MetricStat"]["Metric"] for entry in alarm.get("Metrics", []) if "MetricStat" in entry]
    for metric in stats or [alarm]:
        (dimension,) = metric["Dimensions"]
        yield (named(metric["Namespace"]), metric["MetricName"], dimension["Name"], named(dimension["Value"]))


def shown(stack: Stack) -> Iterator[Metric]:
    """Return the metrics of the dashboard. A dot repeats the value above it."""
    (dashboard,) = stack.deployed(**CASES["existing"]).of_type("AWS::CloudWatch::Dashboard").values()
    body = json.loads(named(dashboard["DashboardBody"]))
    for widget in body["widgets"]:
        above: list[str] = []
        for metric in widget["properties"]["metrics"]:
            plain = [part for part in metric if isinstance(part, str)]
            above = [part if part != "." else above[place] for place, part in enumerate(plain)]
            namespace, name, dimension, value = above
            yield namespace, name, dimension, value.removeprefix("${").removesuffix("}")


def strangers(metrics: Iterator[Metric], stack: Stack) -> list[Metric]:
    """Return the metrics that no function emits."""
    there = {
        (OURS, name, "service", service) for service in ("dispatcher", "worker") for name in measured(service)
    }
    resources = stack.translated["Resources"]
    return [
        metric
        for metric in metrics
        if metric not in there
        and not (
            metric[1] in AWS.get(metric[0], ())
            and metric[2] == BELONGS[metric[0]]
            and metric[3].partition(".")[0] in resources
        )
    ]


@pytest.mark.planted("MetricName: oldest_due_ms", "MetricName: oldest_due")
@pytest.mark.planted(
    r"MetricName: refused\n      Dimensions: \*inDispatcher",
    "MetricName: refused\n      Dimensions: [{Name: service, Value: worker}]",
)
@pytest.mark.planted("&namespace !Sub minutehand/\\${AWS::StackName}", "&namespace minutehand")
@pytest.mark.planted("MetricName: failed_steps", "MetricName: failed_step")
@pytest.mark.planted("MetricName: refused_schedules", "MetricName: schedules_refused")
@pytest.mark.planted("MetricName: AsyncEventsDropped", "MetricName: AsyncEventDropped")
@pytest.mark.planted("Name: ScheduleGroup", "Name: ScheduleName")
def test_every_alarm_uses_existing_metrics(stack: Stack) -> None:
    assert len(alarms(stack)) == 19
    for name, alarm in alarms(stack).items():
        assert (name, strangers(watched(alarm), stack)) == (name, [])


@pytest.mark.planted('"lag_ms"', '"lag"')
@pytest.mark.planted('"\\${WorkerFunction}"', '"${Worker}"')
@pytest.mark.planted('"retrying", ".", "."\\]', '"retried", ".", "."]')
def test_every_metric_of_the_dashboard_exists(stack: Stack) -> None:
    assert len(list(shown(stack))) > 30
    assert strangers(shown(stack), stack) == []


@pytest.mark.planted('"snoozed"', '"done"')
def test_dashboard_shows_every_outcome_of_an_attempt(stack: Stack) -> None:
    assert set(get_args(Ending)) <= {name for _, name, _, who in shown(stack) if who == "worker"}


def test_functions_and_alarms_use_the_same_metric_namespace(stack: Stack) -> None:
    for name in stack.functions:
        assert named(stack.variables(name)["POWERTOOLS_METRICS_NAMESPACE"]) == OURS


@pytest.mark.planted("TreatMissingData: breaching", "TreatMissingData: notBreaching")
@pytest.mark.planted("TreatMissingData: notBreaching", "TreatMissingData: missing")
def test_missing_data_is_an_alarm_only_for_constant_metrics(stack: Stack) -> None:
    for name, alarm in alarms(stack).items():
        assert alarm["TreatMissingData"] == ("breaching" if name in MUST_BE_THERE else "notBreaching")


@pytest.mark.planted("OKActions: \\*notify", "OKActions: []")
@pytest.mark.planted("AlarmActions: \\*notify", "InsufficientDataActions: *notify")
@pytest.mark.planted("&notify !If \\[Notifies", "&notify !If [OnArm")
def test_alarms_notify_the_topic_when_they_start_and_end(stack: Stack) -> None:
    for alarm in alarms(stack, "snapshots").values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [TOPIC]
    for alarm in alarms(stack).values():
        assert "AlarmActions" not in alarm and "OKActions" not in alarm
    assert alarms(stack, "x86") == {}


THRESHOLDS = {
    "DispatcherDeadAlarm": (1, 60, 3),
    "DispatcherFailsAlarm": (1, 60, 3),
    "TickDroppedAlarm": (0, 300, 1),
    "LateAlarm": (180, 60, 3),
    "RefusedAlarm": (0, 60, 5),
    "MaintenanceAlarm": (0, 60, 25),
    "SchedulesAlarm": (0, 3600, 1),
    "AcceptanceAlarm": (90, 300, 2),
    "LapsedAlarm": (10, 900, 1),
    "EventAgeAlarm": (30_000, 60, 3),
    "EventsDroppedAlarm": (0, 300, 1),
    "FailuresAlarm": (0, 300, 1),
    "RecursionAlarm": (0, 300, 1),
    "LostAlarm": (1, 300, 1),
    "DeadAlarm": (0, 900, 1),
    "EmptyAlarm": (5, 300, 3),
    "SnapshotAlarm": (60_000, 60, 3),
    "BloatAlarm": (10, 300, 3),
    "ConnectionsAlarm": (70, 60, 3),
}


@pytest.mark.planted("Threshold: 90", "Threshold: 9")
@pytest.mark.planted("EvaluationPeriods: 5", "EvaluationPeriods: 500")
@pytest.mark.planted("Period: 900", "Period: 60")
def test_documented_thresholds_are_correct(stack: Stack) -> None:
    found = {}
    for name, alarm in alarms(stack).items():
        stats = [entry["MetricStat"] for entry in alarm.get("Metrics", []) if "MetricStat" in entry] or [
            alarm
        ]
        periods = {stat["Period"] for stat in stats}
        found[name] = (alarm["Threshold"], *periods, alarm["EvaluationPeriods"])

    assert found == THRESHOLDS


@pytest.mark.planted("Period: 300(?=.{1,60}EvaluationPeriods: 2)", "Period: 60")
@pytest.mark.planted("Period: 900(?=.{1,60}EvaluationPeriods: 1)", "Period: 60")
def test_lapsed_share_is_measured_over_several_offers(stack: Stack) -> None:
    """Without workers, offers are made only after the previous ones have lapsed: most minutes have none."""
    for name in ("AcceptanceAlarm", "LapsedAlarm"):
        periods = {
            entry["MetricStat"]["Period"] for entry in alarms(stack)[name]["Metrics"] if "MetricStat" in entry
        }
        assert min(periods) >= 2 * stack.parameters["OfferTtl"]


@pytest.mark.planted("FILL\\(claimed, 0\\)", "FILL(claims, 0)")
@pytest.mark.planted(
    "IF\\(claimed > 0, 100 \\* FILL\\(lost, 0\\) / claimed, 0\\)", "100 * FILL(lost, 0) / claimed"
)
@pytest.mark.planted("Id: reaped\n          ReturnData: false", "Id: reaped\n          ReturnData: true")
def test_ratio_alarms_name_their_metrics_and_never_divide_by_zero(stack: Stack) -> None:
    for alarm in alarms(stack).values():
        metrics = alarm.get("Metrics", [])
        expressions = [entry["Expression"] for entry in metrics if "Expression" in entry]
        ids = {entry["Id"] for entry in metrics if "MetricStat" in entry}
        for expression in expressions:
            used = set(re.findall(r"\b[a-z]\w*", expression))
            assert used == ids
            for divisor in re.findall(r"/ ([a-z]\w*)", expression):
                assert f"IF({divisor} > 0," in expression
        returned = [entry for entry in metrics if entry.get("ReturnData", True)]
        assert len(returned) == bool(metrics)


@pytest.mark.planted("ActionsEnabled: !If \\[Ticks, true, false\\]", "ActionsEnabled: true")
def test_disabled_schedule_raises_no_alarm(stack: Stack) -> None:
    parameters = {**CASES["existing"], "Schedule": "DISABLED"}
    disabled = stack.deployed(**parameters)

    for name in ("DispatcherDeadAlarm", "TickDroppedAlarm"):
        assert disabled.of_type("AWS::CloudWatch::Alarm")[name]["ActionsEnabled"] is False
        assert alarms(stack)[name]["ActionsEnabled"] is True
    (schedule,) = disabled.of_type("AWS::Scheduler::Schedule").values()
    assert schedule["State"] == "DISABLED"


@pytest.mark.planted("DatapointsToAlarm: !If \\[Sleeps, 1, 3\\]", "DatapointsToAlarm: 25")
def test_maintenance_that_fails_every_ten_minutes_is_an_alarm(stack: Stack) -> None:
    alarm = alarms(stack)["MaintenanceAlarm"]
    asleep = stack.deployed(**CASES["existing"], Mode="sleep").of_type("AWS::CloudWatch::Alarm")

    sweeps = alarm["EvaluationPeriods"] * alarm["Period"] // 600 + 1
    assert alarm["DatapointsToAlarm"] == sweeps == 3
    assert asleep["MaintenanceAlarm"]["EvaluationPeriods"] == 1
