"""The one module that knows AWS: invoking a worker function, and reading a secret."""

import json
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutehand.errors import ConfigurationError

CONNECTIONS = 64  # more than a fan-out has threads


class LambdaInvoker:
    """Invokes a function asynchronously; AWS_ENDPOINT_URL_LAMBDA leads to a local stand-in."""

    def __init__(self, function: str) -> None:
        """Name the function; the client is made at the first call."""
        self._function = function
        self._client: Any = None
        self._making = Lock()

    def invoke(self, event: dict[str, Any]) -> None:
        """Hand the event to Lambda, which answers 202 before any work is done."""
        with self._making:  # a fan-out calls from many threads, and boto3 makes clients on one at a time
            self._client = self._client or boto3.client("lambda", config=CONFIG)
        self._client.invoke(
            FunctionName=self._function, InvocationType="Event", Payload=json.dumps(event).encode()
        )


def secret_text(name: str) -> str:
    """Return the text of a secret in Secrets Manager, by its ARN or name, as it is at this moment."""
    try:
        answer = boto3.client("secretsmanager", config=CONFIG).get_secret_value(SecretId=name)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        raise ConfigurationError(f"the secret {name} cannot be read: Secrets Manager says {code}") from error
    except BotoCoreError as error:
        raise ConfigurationError(f"the secret {name} cannot be read: {error}") from error
    if "SecretString" not in answer:
        raise ConfigurationError(f"the secret {name} is binary: store it as text")
    return str(answer["SecretString"])


CONFIG = Config(
    max_pool_connections=CONNECTIONS,
    connect_timeout=3,
    read_timeout=10,
    retries={"mode": "standard", "max_attempts": 3},
)
