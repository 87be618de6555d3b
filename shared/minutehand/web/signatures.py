"""Sign and verify bodies as Standard Webhooks specifies: standardwebhooks.com, symmetric, version 1."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

from minutehand.errors import ConfigurationError
from minutehand.model.encoding import from_base64, to_base64

# The job header that names the URL of its route.
ROUTE_HEADER = "minutehand-route"
# The header of a response whose job is done, but whose result the route could not send.
RESULT_ERROR_HEADER = "minutehand-result-error"
# The ids of deliveries to a route begin with this. The http kind posts any body to any URL, signed with the same
# secrets; without the prefix such a body could pass for a delivery to a route.
ROUTE_ID_PREFIX = "route-"


def sign(id: str, moment: datetime, body: bytes, keys: list[bytes]) -> dict[str, str]:
    """Return the headers that prove the sender of a body, with one signature for each key.

    During a rotation there are two keys, and a receiver needs to know only one of them.
    """
    timestamp = str(int(moment.timestamp()))
    signed = b".".join([id.encode(), timestamp.encode(), body])
    headers = {"webhook-id": id, "webhook-timestamp": timestamp}
    return headers | (
        {"webhook-signature": " ".join(_signature(key, signed) for key in keys)} if keys else {}
    )


def verify(
    headers: Mapping[str, str], body: bytes, keys: list[bytes], now: datetime, tolerance: timedelta
) -> bool:
    """Return whether a body was signed with one of the keys, within the tolerance; header names are in lower case.

    One valid signature is enough, so that sender and receiver can rotate their secrets at different times.
    """
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not keys or not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    signed = b".".join([id.encode(), timestamp.encode(), body])
    expected = [_signature(key, signed).encode() for key in keys]
    received = [signature.encode() for signature in headers.get("webhook-signature", "").split()]
    # All pairs are compared, so that the time taken does not depend on which one matches.
    valid = sum(hmac.compare_digest(one, other) for one in expected for other in received) > 0
    return valid and abs(now.timestamp() - int(timestamp)) <= tolerance.total_seconds()


def read_keys(secrets: str, name: str) -> list[bytes]:
    """Parse comma-separated secrets, each whsec_ followed by base64; errors quote only `name`, their setting."""
    return [_key(text, name) for part in secrets.split(",") if (text := part.strip())]


def _signature(key: bytes, signed: bytes) -> str:
    return "v1," + to_base64(hmac.digest(key, signed, hashlib.sha256))


def _key(text: str, name: str) -> bytes:
    try:
        key = from_base64(text.removeprefix("whsec_"))
    except ValueError:
        key = b""
    if not key:
        raise ConfigurationError(f"a secret in {name} is not whsec_ followed by base64")
    return key
