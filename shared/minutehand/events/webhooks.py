"""Webhook: events are posted to a URL of yours, signed as Standard Webhooks says."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from minutehand.errors import ConfigurationError, EventsRefusedError
from minutehand.model.event import Event
from minutehand.settings import secret
from minutehand.web.signatures import read_keys, sign

CONNECT_SECONDS, ANSWER_SECONDS = 1.0, 3.0


class Webhook:
    """A URL that is posted `{"type": "events", "timestamp": ..., "data": [event, ...]}`."""

    most = 100

    def __init__(self, url: str) -> None:
        """Open nothing yet."""
        try:
            from urllib3 import PoolManager, Timeout
        except ModuleNotFoundError:
            raise ConfigurationError("events to a webhook need urllib3; run: pip install urllib3") from None
        self._url = url
        self._pool = PoolManager(timeout=Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS), retries=False)

    def send(self, events: Sequence[Event]) -> None:
        """Post events; anything but a 2xx is a refusal, and a redirect is not followed."""
        now = datetime.now(UTC)
        told = {"type": "events", "timestamp": now.isoformat(), "data": [event.to_json() for event in events]}
        body = json.dumps(told, separators=(",", ":")).encode()
        keys = read_keys(secret("MINUTEHAND_EVENTS_SECRETS"), "MINUTEHAND_EVENTS_SECRETS")
        if not keys:
            raise ConfigurationError("there is no secret to sign events with: set MINUTEHAND_EVENTS_SECRETS")
        headers = {"content-type": "application/json", **sign(str(events[0].id), now, body, keys)}
        answer = self._pool.request(
            "POST", self._url, body=body, headers=headers, redirect=False, preload_content=False
        )
        answer.close()
        if not 200 <= answer.status < 300:
            raise EventsRefusedError(f"it answered {answer.status}")
