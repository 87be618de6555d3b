"""Sending events to EventBridge and SNS, which wants boto3."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutehand.errors import EventsRefusedError
from minutehand.model.event import Event

SOURCE = "minutehand"
CONFIG = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 1})


class EventBus:
    """A bus of EventBridge: source `minutehand`, the event's name as detail type."""

    limit = 10  # as many as PutEvents takes

    def __init__(self, bus: str) -> None:
        """Name the bus, or give its ARN."""
        self._bus, self._client = bus, boto3.client("events", config=CONFIG)

    def send(self, events: Sequence[Event]) -> None:
        """Put up to ten events; what is refused of them is not put again."""
        with _in_our_words():
            answer = self._client.put_events(Entries=[self._entry(event) for event in events])
        _check(entry["ErrorCode"] for entry in answer["Entries"] if "ErrorCode" in entry)

    def _entry(self, event: Event) -> Any:
        detail = json.dumps(event.to_json())
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": event.name,
            "Time": event.at,
            "Detail": detail,
        }


class Topic:
    """A standard topic of SNS; name, queue and kind are attributes to filter by."""

    limit = 10  # as many as PublishBatch takes

    def __init__(self, arn: str) -> None:
        """Name the topic, whose region may be another."""
        self._arn = arn
        region = arn.split(":")[3] if arn.count(":") >= 5 else None
        self._client = boto3.client("sns", config=CONFIG, region_name=region)

    def send(self, events: Sequence[Event]) -> None:
        """Publish up to ten events; what is refused of them is not published again."""
        entries = [_message(number, event) for number, event in enumerate(events)]
        with _in_our_words():
            answer = self._client.publish_batch(TopicArn=self._arn, PublishBatchRequestEntries=entries)
        _check(failed["Code"] for failed in answer.get("Failed", ()))


def _message(number: int, event: Event) -> Any:
    told = {"name": event.name, "queue": event.queue, "kind": event.kind}
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in told.items() if value}
    return {"Id": str(number), "Message": json.dumps(event.to_json()), "MessageAttributes": attributes}


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise EventsRefusedError(str(error)) from error


def _check(codes: Iterable[str]) -> None:
    if refused := sorted(set(codes)):
        raise EventsRefusedError(f"some were refused: {', '.join(refused)}")
