"""Invoking worker functions, which wants boto3."""

import json
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config

CONNECTIONS = 64  # more than a fan-out has threads


class LambdaInvoker:
    """Invokes functions by name or ARN; AWS_ENDPOINT_URL_LAMBDA leads to a local stand-in."""

    def __init__(self) -> None:
        """Open nothing: the client is made at the first call."""
        self._client: Any = None
        self._making = Lock()

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Hand the event to Lambda, which answers 202 before any work is done."""
        payload = json.dumps(event).encode()
        self._made().invoke(FunctionName=worker, InvocationType="Event", Payload=payload)

    def check(self, worker: str) -> None:
        """Ask Lambda whether the function could be invoked from here, without doing it; raise if not."""
        self._made().invoke(FunctionName=worker, InvocationType="DryRun")

    def _made(self) -> Any:
        with self._making:  # a fan-out calls from many threads, and boto3 makes clients on one at a time
            self._client = self._client or boto3.client("lambda", config=CONFIG)
        return self._client


CONFIG = Config(
    max_pool_connections=CONNECTIONS,
    connect_timeout=3,
    read_timeout=10,
    retries={"mode": "standard", "max_attempts": 3},
)
