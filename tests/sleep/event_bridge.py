"""EventBridge Scheduler: moto stores the wake-ups, which it never fires; a test fires them."""

import logging
import re
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

import boto3
import pytest
from moto.backends import get_backend
from moto.server import ThreadedMotoServer

REGION, ACCOUNT = "eu-central-1", "123456789012"
TARGET = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:shop-dispatcher"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/shop-schedule"


class EventBridge:
    """A schedule group in moto, over HTTP, and the settings of mode sleep for it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        # Another group for each test: a process remembers which wake-ups it has created.
        self.group = f"shop-{uuid4().hex}"
        self.variables = {
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_SCHEDULER": self.url,
            "MINUTEHAND_MODE": "sleep",
            "MINUTEHAND_WAKEUP_GROUP": self.group,
            "MINUTEHAND_WAKEUP_TARGET": TARGET,
            "MINUTEHAND_WAKEUP_ROLE": ROLE,
        }
        for name, value in self.variables.items():
            patch.setenv(name, value)
        # moto answers in a thread of this process, which may be busy.
        patch.setattr("minutehand.aws.scheduler.SECONDS", (60.0, 60.0))
        self.client: Any = boto3.client("scheduler")
        self.client.create_schedule_group(Name=self.group)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._server.stop()

    @property
    def _stored(self) -> dict[str, Any]:
        groups: dict[str, Any] = get_backend("scheduler")[ACCOUNT][REGION].schedule_groups
        stored: dict[str, Any] = groups[self.group].schedules
        return stored

    @property
    def wakeups(self) -> dict[str, datetime]:
        """The minutes of the wake-ups that have not been deleted, by name."""
        return {name: _minute(wakeup.schedule_expression) for name, wakeup in list(self._stored.items())}

    @property
    def minutes(self) -> list[datetime]:
        """The minutes of the wake-ups, in order."""
        return sorted(self.wakeups.values())

    @property
    def names(self) -> set[str]:
        return set(self._stored)

    def minute(self, name: str) -> datetime:
        return _minute(self._stored[name].schedule_expression)

    def has(self, name: str) -> bool:
        return name in self._stored

    def delete(self, name: str) -> None:
        """Complete a wake-up, or lose it."""
        self._stored.pop(name, None)


def _minute(expression: str) -> datetime:
    found = re.fullmatch(r"at\((.*)\)", expression)
    assert found is not None
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
