"""Webhooks: post events to a URL of yours, signed as in Standard Webhooks."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from minutehand.errors import ConfigurationError, EventsRefusedError
from minutehand.model.event import Event
from minutehand.settings import secret
from minutehand.web.signatures import read_keys, sign

CONNECT_SECONDS, RESPONSE_SECONDS = 1.0, 3.0


class Webhook:
    """A sink that posts `{"type": "events", "timestamp": ..., "data": [event, ...]}` to a URL."""

    limit = 100

    def __init__(self, url: str) -> None:
        """Remember the URL; no connection is opened yet."""
        try:
            from urllib3 import PoolManager, Timeout
        except ModuleNotFoundError:
            raise ConfigurationError("webhooks need urllib3; run: pip install urllib3") from None
        self._url = url
        self._pool = PoolManager(
            timeout=Timeout(connect=CONNECT_SECONDS, read=RESPONSE_SECONDS), retries=False
        )

    def send(self, events: Sequence[Event]) -> None:
        """Post events. Any status but 2xx is a refusal; redirects are not followed."""
        now = datetime.now(UTC)
        message = {
            "type": "events",
            "timestamp": now.isoformat(),
            "data": [event.to_json() for event in events],
        }
        body = json.dumps(message, separators=(",", ":")).encode()
        keys = read_keys(secret("MINUTEHAND_EVENTS_SECRETS"), "MINUTEHAND_EVENTS_SECRETS")
        if not keys:
            raise ConfigurationError("no secret to sign events with; set MINUTEHAND_EVENTS_SECRETS")
        headers = {"content-type": "application/json", **sign(str(events[0].id), now, body, keys)}
        response = self._pool.request(
            "POST", self._url, body=body, headers=headers, redirect=False, preload_content=False
        )
        response.close()
        if not 200 <= response.status < 300:
            raise EventsRefusedError(f"the webhook answered {response.status}")
