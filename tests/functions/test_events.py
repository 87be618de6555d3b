"""Event sinks: webhooks, EventBridge and SNS. Jobs do not wait for them."""

import json
from collections.abc import Iterator
from datetime import timedelta
from threading import Event as Flag
from typing import Any

import boto3
import pytest
from moto import mock_aws
from standardwebhooks.webhooks import Webhook

from minutehand import Database, NewJob, enqueue, enqueue_many
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.events import sinks
from minutehand.handlers import HandlerTable
from tests.functions.conftest import Seen, Server
from tests.servers import Database as Address

SECRET, OLD = "whsec_" + "c2VjcmV0" * 4, "whsec_" + "b2xkZXI=" * 1
REGION = "eu-central-1"


@pytest.fixture
def database(direct_database: Address) -> Iterator[Database]:
    database = Database(direct_database.url)
    yield database
    database.close()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield


def attempt(database: Database) -> str:
    """Enqueue a job and let a worker handle it."""
    enqueue("echo", {"mark": "mark-4711"}, connection=database)
    jobs = take(database, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
    (ending,) = run_jobs(jobs, HandlerTable({"echo": lambda payload: payload}), lambda: False)
    return ending.ending


def received_events(seen: list[Seen]) -> list[dict[str, Any]]:
    return [event for each in seen for event in json.loads(each.body)["data"]]


def test_webhook_receives_signed_batches_of_events(
    database: Database, server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server("204 No Content") as receiver:
        monkeypatch.setenv("MINUTEHAND_EVENTS", f"webhook:http://{receiver.authority}/hooks?token=4711")
        monkeypatch.setenv("MINUTEHAND_EVENTS_SECRETS", f"{SECRET},{OLD}")
        assert attempt(database) == "done"
        list(enqueue_many((NewJob("echo") for _ in range(250)), connection=database))

    assert {each.line for each in receiver.seen} == {"POST /hooks?token=4711 HTTP/1.1"}
    for each in receiver.seen:
        for secret in (SECRET, OLD):
            body = Webhook(secret).verify(each.body, each.headers)
            assert body["type"] == "events"
    events = received_events(receiver.seen)
    assert [event["name"] for event in events] == ["enqueued", "claimed", "done"] + ["enqueued"] * 250
    assert [len(json.loads(each.body)["data"]) for each in receiver.seen] == [1, 2, 100, 100, 50]
    assert len({event["id"] for event in events}) == 253
    assert events[2]["job"] == events[0]["job"]
    assert "mark-4711" not in str(events)


@pytest.mark.parametrize("answer", ["500 Oops", "404 Not Found", "302 Found\nlocation: http://127.0.0.1:1/"])
def test_failing_webhook_fails_no_job_and_is_logged_once(
    database: Database,
    server: type[Server],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    answer: str,
) -> None:
    with server(answer) as receiver:
        monkeypatch.setenv("MINUTEHAND_EVENTS", f"webhook:http://{receiver.authority}/hooks?token=4711")
        monkeypatch.setenv("MINUTEHAND_EVENTS_SECRETS", SECRET)
        endings = [attempt(database) for _ in range(3)]

    assert endings == ["done"] * 3
    assert len(receiver.seen) == 1
    (logged,) = [record.getMessage() for record in caplog.records]
    assert logged == (
        f"events for webhook:http://{receiver.authority} are dropped: "
        f"EventsRefusedError: the webhook answered {answer[:3]}"
    )


def test_recovered_webhook_receives_events_and_losses_are_logged(
    database: Database,
    server: type[Server],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sinks, "REST", 0.0)
    with server("500 Oops", "500 Oops", "200 OK") as receiver:
        monkeypatch.setenv("MINUTEHAND_EVENTS", f"webhook:http://{receiver.authority}")
        monkeypatch.setenv("MINUTEHAND_EVENTS_SECRETS", SECRET)
        for _ in range(2):
            attempt(database)

    assert [record.getMessage().partition(receiver.authority)[2] for record in caplog.records] == [
        " are dropped: EventsRefusedError: the webhook answered 500",
        " are delivered again; 3 were dropped",
    ]


def test_job_does_not_wait_for_a_slow_webhook(
    database: Database,
    server: type[Server],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sinks, "SECONDS", 0.2)
    monkeypatch.setattr("minutehand.events.publish.SECONDS", 0.2)
    answered = Flag()

    def never(stopping: Flag) -> Iterator[bytes]:
        stopping.wait(20)
        answered.set()
        yield b""

    with server(never) as receiver:
        monkeypatch.setenv("MINUTEHAND_EVENTS", f"webhook:http://{receiver.authority}")
        monkeypatch.setenv("MINUTEHAND_EVENTS_SECRETS", SECRET)

        assert attempt(database) == "done"
        assert not answered.is_set()

    assert [record.getMessage().partition("dropped: ")[2] for record in caplog.records] == [
        "TimeoutError: delivery timed out"
    ]


def test_webhook_without_a_secret_receives_nothing(
    database: Database,
    server: type[Server],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with server("200 OK") as receiver:
        monkeypatch.setenv("MINUTEHAND_EVENTS", f"webhook:http://{receiver.authority}")
        assert attempt(database) == "done"

    assert receiver.seen == []
    assert "set MINUTEHAND_EVENTS_SECRETS" in caplog.text


@pytest.mark.parametrize("by", ["name", "arn"])
def test_eventbridge_receives_every_event_in_batches(
    database: Database, aws: None, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    bus = boto3.client("events")
    arn = bus.create_event_bus(Name="jobs")["EventBusArn"]
    received = queue_of("events")
    bus.put_rule(Name="all", EventBusName="jobs", EventPattern='{"source": ["minutehand"]}')
    bus.put_targets(Rule="all", EventBusName="jobs", Targets=[{"Id": "1", "Arn": arn_of(received)}])
    monkeypatch.setenv("MINUTEHAND_EVENTS", f"eventbridge:{'jobs' if by == 'name' else arn}")

    attempt(database)
    list(enqueue_many((NewJob("echo") for _ in range(22)), connection=database))

    events = [json.loads(text) for text in messages(received)]
    assert sorted(event["detail-type"] for event in events) == ["claimed", "done"] + ["enqueued"] * 23
    assert {event["source"] for event in events} == {"minutehand"}
    assert all(event["detail"]["name"] == event["detail-type"] for event in events)
    assert "mark-4711" not in str(events)


def test_sns_receives_every_event_with_filter_attributes(
    database: Database, aws: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sns = boto3.client("sns")
    topic = sns.create_topic(Name="jobs")["TopicArn"]
    received, dead = queue_of("all"), queue_of("dead")
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn_of(received))
    sns.subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=arn_of(dead),
        Attributes={"FilterPolicy": '{"name": ["done"]}'},
    )
    monkeypatch.delenv("AWS_DEFAULT_REGION")  # the region is in the topic's ARN
    monkeypatch.setenv("MINUTEHAND_EVENTS", f"sns:{topic}")

    attempt(database)
    list(enqueue_many((NewJob("echo") for _ in range(22)), connection=database))

    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    events = [json.loads(json.loads(text)["Message"]) for text in messages(received)]
    assert sorted(event["name"] for event in events) == ["claimed", "done"] + ["enqueued"] * 23
    assert [json.loads(json.loads(text)["Message"])["name"] for text in messages(dead)] == ["done"]


def test_error_of_aws_fails_no_job(
    database: Database, aws: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINUTEHAND_EVENTS", f"sns:arn:aws:sns:{REGION}:123456789012:gone")
    # The first call of the client, which imports it, may take seconds.
    monkeypatch.setattr("minutehand.events.publish.SECONDS", 60.0)

    assert attempt(database) == "done"
    assert "EventsRefusedError: An error occurred (NotFound)" in caplog.text


def test_failing_sink_does_not_affect_the_others(
    database: Database, server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server("200 OK") as receiver:
        monkeypatch.setenv(
            "MINUTEHAND_EVENTS",
            f"webhook:http://127.0.0.1:1,table,webhook:http://{receiver.authority}",
        )
        monkeypatch.setenv("MINUTEHAND_EVENTS_SECRETS", SECRET)
        monkeypatch.setenv("MINUTEHAND_EVENTS_ONLY", "done")
        attempt(database)

    assert [event["name"] for event in received_events(receiver.seen)] == ["done"]
    assert (
        len(database.run("list_events", names=None, queue=None, kind=None, job=None, since=None, limit=9))
        == 1
    )


def queue_of(name: str) -> str:
    return str(boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"])


def arn_of(queue: str) -> str:
    attributes = boto3.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    return str(attributes["Attributes"]["QueueArn"])


def messages(queue: str) -> list[str]:
    """Return all messages of a queue, in any order."""
    found: list[str] = []
    while got := boto3.client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
        found += [message["Body"] for message in got]
    return found
