"""The mode `prompt`, with an endpoint that records the invocations."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from minutehand.local.lambda_endpoint import Call, LambdaEndpoint, Reply, refusal
from minutehand.waking import chain, invoking
from tests.queue.stage import Queue


class Lambda:
    """Records the events of each function; refuses them while `refuses` is set."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.refuses = False

    def handle(self, call: Call) -> Reply:
        if self.refuses:
            return refusal(400, "InvalidRequestContentException", "refused")
        self.events.append((call.function, json.loads(call.payload)))
        return Reply(status=202)

    @property
    def offered(self) -> list[list[str]]:
        """The ids of the jobs in each event of the worker."""
        return [[id for id, _ in event["offers"]] for name, event in self.events if name == "worker"]

    @property
    def wakes(self) -> int:
        """The number of invocations of the dispatcher."""
        return sum(name == "dispatcher" for name, _ in self.events)


@pytest.fixture
def aws(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambda]:
    """Lambda, and a queue in the mode `prompt` whose dispatcher has made a tick."""
    functions = Lambda()
    with LambdaEndpoint(functions) as endpoint:
        for name, value in {
            "MINUTEHAND_MODE": "prompt",
            "MINUTEHAND_WORKER": "worker",
            "MINUTEHAND_DISPATCHER": "dispatcher",
            "AWS_ENDPOINT_URL_LAMBDA": endpoint.url,
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(invoking, "_paused_until", 0.0)
        monkeypatch.setattr(chain, "_begun", 0)
        invoking._invoker.cache_clear()
        queue.offer(capacity=3)
        yield functions
    invoking._invoker.cache_clear()


@pytest.fixture
def one_request(queue: Queue, aws: Lambda, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first request for a dispatcher last for the whole test, instead of a second."""
    handle = aws.handle

    def last(call: Call) -> Reply:
        if call.function == "dispatcher":
            with psycopg.connect(queue.url) as connection:
                connection.execute("update minutehand.waiting set until = now() + interval '1 hour'")
        return handle(call)

    monkeypatch.setattr(aws, "handle", last)
