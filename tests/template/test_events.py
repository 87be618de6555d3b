"""The parameters configure the event sinks, and the functions may send events only to these."""

from typing import Any

import pytest

from minutehand.events.sinks import deliveries
from tests.template.cases import BUS, CASES, EXISTING, SECRET, TOPIC
from tests.template.stack import Stack, listed

TELLING = ("ApiFunction", "DispatcherFunction", "WorkerFunction")


def granted(stack: Stack, **parameters: Any) -> list[tuple[str, Any]]:
    """Return the permissions of the event policy in a deploy."""
    policy = stack.deployed(**EXISTING, **parameters).of_type("AWS::IAM::ManagedPolicy").get("TellEvents")
    statements = policy["PolicyDocument"]["Statement"] if policy else []
    return [(action, each["Resource"]) for each in statements for action in listed(each["Action"])]


@pytest.mark.planted("Action: events:PutEvents", "Action: events:PutRule")
@pytest.mark.planted(
    "Action: sns:Publish, Resource: !Ref EventTopicArn", "Action: sns:Publish, Resource: !Ref AlarmTopicArn"
)
@pytest.mark.planted("Resource: !Ref EventsSecretsSecretArn", "Resource: !Ref HttpSecretsSecretArn")
@pytest.mark.planted(
    r"TellsBus: !Not \[!Equals \[!Ref EventBusArn", "TellsBus: !Not [!Equals [!Ref EventTopicArn"
)
def test_functions_may_send_events_only_to_configured_sinks(stack: Stack) -> None:
    secret = f"{SECRET}events"

    assert granted(stack) == []
    assert granted(stack, Events="table") == []
    assert granted(stack, EventBusArn=BUS) == [("events:PutEvents", BUS)]
    assert granted(stack, EventTopicArn=TOPIC) == [("sns:Publish", TOPIC)]
    assert granted(stack, EventsSecretsSecretArn=secret) == [("secretsmanager:GetSecretValue", secret)]


@pytest.mark.planted('!Sub "eventbridge:', '!Sub "events:')
@pytest.mark.planted("- - !Ref Events\n", "- - table\n")
def test_setting_lists_every_configured_sink(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    def named(**parameters: Any) -> list[str]:
        configured = stack.deployed(**{**EXISTING, **parameters}).variables("WorkerFunction")[
            "MINUTEHAND_EVENTS"
        ]
        separator, parts = configured["Fn::Join"]
        return [outlet.name for outlet in deliveries(separator.join(parts))]

    assert named() == []
    assert named(**CASES["events"]) == [
        "table",
        "webhook:https://example.com",
        f"eventbridge:{BUS}",
        f"sns:{TOPIC}",
    ]
    # asyncio logs when it frees a task that the handler of another test left.
    assert [each for each in caplog.records if each.name != "asyncio"] == []


@pytest.mark.planted("          MINUTEHAND_EVENTS_SECRETS_SECRET: !Ref EventsSecretsSecretArn\n", "")
@pytest.mark.planted("MINUTEHAND_EVENTS_ONLY: !Ref EventsOnly", "MINUTEHAND_EVENTS_ONLY: !Ref Events")
def test_functions_that_emit_events_have_their_settings(stack: Stack) -> None:
    deployed = stack.deployed(**CASES["events"])
    for function in TELLING:
        variables = deployed.variables(function)
        assert variables["MINUTEHAND_EVENTS_ONLY"] == "dead,cancelled"
        assert variables["MINUTEHAND_EVENTS_SECRETS_SECRET"] == f"{SECRET}events"
