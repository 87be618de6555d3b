"""The one module that knows AWS: invoking a worker function."""

import json
from typing import Any

import boto3
from botocore.config import Config

from minutehand.fan_out import THREADS


class LambdaInvoker:
    """Invokes a function asynchronously; AWS_ENDPOINT_URL_LAMBDA leads to a local stand-in."""

    def __init__(self, function: str) -> None:
        """Name the function; the client is made at the first call."""
        self._function = function
        self._client: Any = None

    def invoke(self, event: dict[str, Any]) -> None:
        """Hand the event to Lambda, which answers 202 before any work is done."""
        if self._client is None:
            self._client = boto3.client("lambda", config=CONFIG)
        self._client.invoke(FunctionName=self._function, InvocationType="Event", Payload=json.dumps(event).encode())


CONFIG = Config(max_pool_connections=2 * THREADS, connect_timeout=3, read_timeout=10, retries={"mode": "standard", "max_attempts": 3})
