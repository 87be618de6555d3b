"""The tick runs once a minute, on time or not at all."""

import json
import re

import pytest

from tests.template.cases import CASES
from tests.template.permissions import DISPATCHER
from tests.template.stack import Properties, Stack, arn

RATE = re.compile(r"rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)")
AT_ITS_TIME = {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}


def schedule(stack: Stack, case: str = "existing") -> Properties:
    (schedule,) = stack.deployed(**CASES[case]).of_type("AWS::Scheduler::Schedule").values()
    return schedule


@pytest.mark.planted(r"rate\(1 minute\)", "rate(30 seconds)")
@pytest.mark.planted(r"rate\(1 minute\)", "rate(1 minutes)")
@pytest.mark.planted(r"rate\(1 minute\)", "rate(5 minutes)")
def test_tick_runs_every_minute(stack: Stack) -> None:
    expression = schedule(stack)["ScheduleExpression"]

    assert RATE.fullmatch(expression)
    assert expression == "rate(1 minute)"
    assert schedule(stack)["FlexibleTimeWindow"] == {"Mode": "OFF"}


@pytest.mark.planted(r"rate\(\$\{SweepMinutes\} minutes\)", "rate(${SweepMinutes} hours)")
@pytest.mark.planted('Sub "\\${AWS::StackName}-sweep"', 'Sub "${AWS::StackName}-tick"')
def test_sweep_of_mode_sleep_is_another_schedule(stack: Stack) -> None:
    sweep = schedule(stack, "asleep")

    assert sweep["ScheduleExpression"] == "rate(120 minutes)"
    # A new rate schedule begins with an invocation, which requests the wake-ups of the jobs that wait.
    assert sweep["Name"] != schedule(stack)["Name"]


@pytest.mark.planted("Value: \\*dispatcher", "Value: !Ref DispatcherFunction")
@pytest.mark.planted(
    "MINUTEHAND_WAKEUP_ROLE: !If \\[Sleeps, !GetAtt", "MINUTEHAND_WAKEUP_ROLE: !If [OnArm, !GetAtt"
)
def test_wakeups_invoke_the_dispatcher_with_the_role_of_the_schedule(stack: Stack) -> None:
    asleep, awake = (stack.deployed(**CASES[case]) for case in ("asleep", "existing"))
    outputs = {name: output["Value"] for name, output in asleep.outputs.items() if name.startswith("Wakeup")}
    for function in ("ApiFunction", "DispatcherFunction", "WorkerFunction"):
        wakeups = {name: value for name, value in asleep.variables(function).items() if "_WAKEUP_" in name}
        assert wakeups == {
            "MINUTEHAND_WAKEUP_GROUP": outputs["WakeupGroup"],
            "MINUTEHAND_WAKEUP_TARGET": outputs["WakeupTarget"],
            "MINUTEHAND_WAKEUP_ROLE": outputs["WakeupRole"],
        }
        assert not any(value for name, value in awake.variables(function).items() if "_WAKEUP_" in name)
    assert outputs["WakeupTarget"] == {"Fn::Sub": DISPATCHER}
    assert outputs["WakeupRole"] == schedule(stack)["Target"]["RoleArn"] == arn("ScheduleRole")
    assert outputs["WakeupGroup"] == {"Ref": "Schedules"}


@pytest.mark.planted("RetryPolicy: {MaximumRetryAttempts: 0", "RetryPolicy: {MaximumRetryAttempts: 185")
@pytest.mark.planted(
    r"RetryPolicy: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}",
    "RetryPolicy: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 86400}",
)
@pytest.mark.planted(r"RetryPolicy: {[^}]*}", "State: ENABLED")
def test_tick_that_missed_its_minute_is_dropped(stack: Stack) -> None:
    assert schedule(stack)["Target"]["RetryPolicy"] == AT_ITS_TIME


@pytest.mark.planted("aws.scheduler.scheduled-time", "aws.scheduler.execution-id")
@pytest.mark.planted('"scheduled": ', '"when": ')
def test_tick_has_its_scheduled_time(stack: Stack) -> None:
    assert json.loads(schedule(stack)["Target"]["Input"]) == {"scheduled": "<aws.scheduler.scheduled-time>"}


@pytest.mark.planted(r"\$\{AWS::StackName\}-tick", "minutehand-tick")
def test_schedules_of_two_stacks_have_different_names(stack: Stack) -> None:
    assert schedule(stack)["Name"] == {"Fn::Sub": "${AWS::StackName}-tick"}


def test_tick_wakes_the_dispatcher(stack: Stack) -> None:
    assert arn("DispatcherFunction") == schedule(stack)["Target"]["Arn"]
    assert arn("ScheduleRole") == schedule(stack)["Target"]["RoleArn"]


@pytest.mark.planted("Effect: !If \\[Ticks, Allow, Deny\\]", "Effect: Allow")
def test_disabled_schedule_lets_no_wakeup_start_a_tick(stack: Stack) -> None:
    for state, effect in (("ENABLED", "Allow"), ("DISABLED", "Deny")):
        deployed = stack.deployed(**CASES["existing"], Mode="sleep", Schedule=state)
        (policy,) = deployed.of_type("AWS::IAM::Role")["ScheduleRole"]["Policies"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Effect"] == effect
