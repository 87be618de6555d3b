"""Events of functions are delivered once in time, or stored."""

import pytest

from tests.template.cases import CASES
from tests.template.stack import Stack

# Seconds. The event of the migration may be late if the account is short of concurrency.
OLDEST = {"DispatcherFunction": 60, "MigrateFunction": 300, "WorkerFunction": 60}
FOURTEEN_DAYS = 14 * 24 * 3600


@pytest.mark.planted(
    "MaximumRetryAttempts: !If \\[Sleeps, 2, 0\\]",
    "MaximumRetryAttempts: 2",
)
@pytest.mark.planted(
    "MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300",
    "MaximumRetryAttempts: 1, MaximumEventAgeInSeconds: 300",
)
@pytest.mark.planted(
    "EventInvokeConfig:\n        MaximumRetryAttempts: 0",
    "EventInvokeConfig:\n        MaximumRetryAttempts: 1",
)
@pytest.mark.planted("        MaximumEventAgeInSeconds: 60\n", "        MaximumEventAgeInSeconds: 21600\n")
@pytest.mark.planted("        MaximumEventAgeInSeconds: 60\n", "")
@pytest.mark.planted("Qualifier: live\n", "Qualifier: $LATEST\n")
@pytest.mark.planted(
    "Qualifier: live\n      MaximumRetryAttempts: 0", "Qualifier: live\n      MaximumRetryAttempts: 2"
)
def test_event_is_delivered_once_in_time_or_never(stack: Stack) -> None:
    for parameters in CASES.values():
        deployed = stack.deployed(**parameters)
        configured = {
            (config["FunctionName"]["Ref"], config["Qualifier"]): (
                config["MaximumRetryAttempts"],
                config["MaximumEventAgeInSeconds"],
            )
            for config in deployed.of_type("AWS::Lambda::EventInvokeConfig").values()
        }
        aliases = deployed.of_type("AWS::Lambda::Alias")
        asynchronous = {(name, "$LATEST") for name in OLDEST} | {
            ("WorkerFunction", alias["Name"]) for name, alias in aliases.items() if name == "WorkerLive"
        }

        wanted = {place: (0, OLDEST[place[0]]) for place in asynchronous}
        if parameters.get("Mode") == "sleep":
            # No other tick follows a minute later.
            wanted["DispatcherFunction", "$LATEST"] = (2, 3600)
        assert configured == wanted


@pytest.mark.planted("(OfferTtl:.*?)MinValue: 90", r"\1MinValue: 60")
def test_offer_outlives_its_event(stack: Stack) -> None:
    assert stack.template["Parameters"]["OfferTtl"]["MinValue"] > OLDEST["WorkerFunction"]


@pytest.mark.planted("Destination: !GetAtt WorkerFailures.Arn", "Destination: !GetAtt WorkerLogs.Arn")
@pytest.mark.planted(
    "OnFailure: {Destination: !GetAtt WorkerFailures.Arn", "OnFailure: {Destination: !GetAtt WorkerLogs.Arn"
)
@pytest.mark.planted("MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 345600")
@pytest.mark.planted("SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false")
def test_failed_worker_events_are_stored_encrypted_for_two_weeks(stack: Stack) -> None:
    destinations = {
        config["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
        for config in stack.of_type("AWS::Lambda::EventInvokeConfig").values()
        if config["FunctionName"] == {"Ref": "WorkerFunction"}
    }
    queue = stack.of_type("AWS::SQS::Queue")["WorkerFailures"]

    assert destinations == {"WorkerFailures"}
    assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS
    assert queue["SqsManagedSseEnabled"] is True
