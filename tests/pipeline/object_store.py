"""A moto S3 server in another process."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

import boto3
import pytest

from tests.ports import free_port

SECONDS = 180


@dataclass
class Store:
    """An S3 server. It runs in another process because delta-rs would block it, and can be paused."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
        }

    @property
    def client(self) -> Any:
        """A client that is independent of the tested code."""
        return boto3.client("s3", region_name="us-east-1", endpoint_url=self.environment["AWS_ENDPOINT_URL"])

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture(scope="session")
def store_server() -> Iterator[Store]:
    """The server of this process."""
    port = free_port()
    serve = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    server = subprocess.Popen(
        [sys.executable, "-c", serve], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = monotonic() + SECONDS
    while not answers(port):
        assert monotonic() < deadline
        sleep(0.1)
    yield Store(port, server)
    server.kill()
    server.wait()


@pytest.fixture
def store(store_server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The server with an empty bucket, and its address in the environment."""
    for name, value in store_server.environment.items():
        monkeypatch.setenv(name, value)
    client = store_server.client
    client.create_bucket(Bucket="minutehand")
    yield store_server
    for each in client.list_objects_v2(Bucket="minutehand").get("Contents", []):
        client.delete_object(Bucket="minutehand", Key=each["Key"])
    client.delete_bucket(Bucket="minutehand")


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
