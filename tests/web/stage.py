"""Deliveries to routes, as a worker or another sender posts them."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from minutehand.web.signatures import read_keys, sign
from tests.web.conftest import SECRET, App

KEY = base64.b64encode(bytes(32)).decode()


DAY = timedelta(days=1)


def signed(body: bytes, secret: str = SECRET, moment: datetime | None = None) -> dict[str, str]:
    return sign("route-1", moment or datetime.now(UTC), body, read_keys(secret, ""))


def delivery(**job: Any) -> bytes:
    return json.dumps({"v": 1, "job": {"kind": "welcome", "queue": "emails", **job}, "payload": 1}).encode()


def refusals(app: App, body: bytes, **headers: str) -> tuple[int, str]:
    status, answer = app.post(body, **headers)
    return status, answer["error"]["type"]
