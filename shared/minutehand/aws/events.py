"""Events: send them to EventBridge and SNS."""

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
    """An EventBridge bus; the source is `minutehand`, and the detail type is the event's name."""

    # The limit of PutEvents.
    limit = 10

    def __init__(self, bus: str) -> None:
        """Make a client for a bus, given by its name or ARN."""
        self._bus, self._client = bus, boto3.client("events", config=CONFIG)

    def send(self, events: Sequence[Event]) -> None:
        """Put up to ten events; refused events are not retried."""
        with _translated():
            response = self._client.put_events(Entries=[self._entry(event) for event in events])
        _check(entry["ErrorCode"] for entry in response["Entries"] if "ErrorCode" in entry)

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
    """A standard SNS topic; name, queue and kind are message attributes for filters."""

    # The limit of PublishBatch.
    limit = 10

    def __init__(self, arn: str) -> None:
        """Make a client for a topic, in the region of its ARN."""
        self._arn = arn
        region = arn.split(":")[3] if arn.count(":") >= 5 else None
        self._client = boto3.client("sns", config=CONFIG, region_name=region)

    def send(self, events: Sequence[Event]) -> None:
        """Publish up to ten events; refused events are not retried."""
        entries = [_message(number, event) for number, event in enumerate(events)]
        with _translated():
            response = self._client.publish_batch(TopicArn=self._arn, PublishBatchRequestEntries=entries)
        _check(failed["Code"] for failed in response.get("Failed", ()))


def _message(number: int, event: Event) -> Any:
    values = {"name": event.name, "queue": event.queue, "kind": event.kind}
    attributes = {
        name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value
    }
    return {"Id": str(number), "Message": json.dumps(event.to_json()), "MessageAttributes": attributes}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise EventsRefusedError(str(error)) from error


def _check(codes: Iterable[str]) -> None:
    if refused := sorted(set(codes)):
        raise EventsRefusedError(f"some events were refused: {', '.join(refused)}")
