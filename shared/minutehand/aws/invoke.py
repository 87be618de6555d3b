"""Invoke: call worker functions on Lambda."""

import json
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config

# More than the threads of a fan-out.
CONNECTIONS = 64


class LambdaInvoker:
    """Invoke functions by name or ARN; AWS_ENDPOINT_URL_LAMBDA may point to a local endpoint."""

    def __init__(self) -> None:
        """Open nothing; the client is created at the first call."""
        self._client: Any = None
        self._lock = Lock()

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Send the event to Lambda, which answers before the function runs."""
        payload = json.dumps(event).encode()
        self._get_client().invoke(FunctionName=worker, InvocationType="Event", Payload=payload)

    def check(self, worker: str) -> None:
        """Raise an error if the function cannot be invoked; does not invoke it."""
        self._get_client().invoke(FunctionName=worker, InvocationType="DryRun")

    def _get_client(self) -> Any:
        # Creating a client is not safe in several threads, and a fan-out uses many.
        with self._lock:
            self._client = self._client or boto3.client("lambda", config=CONFIG)
        return self._client


CONFIG = Config(
    max_pool_connections=CONNECTIONS,
    connect_timeout=3,
    read_timeout=10,
    retries={"mode": "standard", "max_attempts": 3},
)
