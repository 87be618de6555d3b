"""A Secrets Manager over HTTP that counts the fetches of each secret."""

from collections import Counter
from typing import Any, Self
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "a/session+token==",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
}


class Manager:
    """Secrets Manager as the library reaches it, by AWS_ENDPOINT_URL_SECRETS_MANAGER."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        for name, value in CREDENTIALS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.url)
        self.client: Any = boto3.client("secretsmanager")
        self.fetches: Counter[str] = Counter()
        self._count(monkeypatch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._server.stop()

    def store(self, text: str) -> str:
        """Keep a secret and return its ARN."""
        return str(self.client.create_secret(Name=uuid4().hex, SecretString=text)["ARN"])

    def rotate(self, arn: str, text: str) -> None:
        """Put a new text in the place of the one that is kept."""
        self.client.put_secret_value(SecretId=arn, SecretString=text)

    def _count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from moto.secretsmanager.models import SecretsManagerBackend

        answer = SecretsManagerBackend.get_secret_value

        def counted(backend: Any, secret_id: str, *args: Any, **options: Any) -> Any:
            self.fetches[secret_id] += 1
            return answer(backend, secret_id, *args, **options)

        monkeypatch.setattr(SecretsManagerBackend, "get_secret_value", counted)
