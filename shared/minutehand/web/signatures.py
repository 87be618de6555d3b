"""Signatures of Standard Webhooks: what is sent is signed with every secret that is current."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

from minutehand.errors import ConfigurationError

# What the id of a delivery to a route begins with, and no other does: what a job has the http handler post
# anywhere, with a body of its own, is signed with the same secrets, and must not pass for it.
ROUTE = "route-"


def sign(id: str, moment: datetime, body: bytes, keys: list[bytes]) -> dict[str, str]:
    """Return the headers that prove who sent a body: standardwebhooks.com, symmetric, version 1.

    While secrets are rotated there are two, and a receiver that knows either of them is content.
    """
    timestamp = str(int(moment.timestamp()))
    signed = b".".join([id.encode(), timestamp.encode(), body])
    headers = {"webhook-id": id, "webhook-timestamp": timestamp}
    return headers | ({"webhook-signature": " ".join(_prove(key, signed) for key in keys)} if keys else {})


def verify(
    headers: Mapping[str, str], body: bytes, keys: list[bytes], now: datetime, tolerance: timedelta
) -> bool:
    """Whether a body was signed with one of the keys, not long ago; header names are in lower case.

    Of several signatures one has to be right, so that sender and receiver need not change their secrets at once.
    """
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not keys or not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    signed = b".".join([id.encode(), timestamp.encode(), body])
    right = [_prove(key, signed).encode() for key in keys]
    said = [proof.encode() for proof in headers.get("webhook-signature", "").split()]
    known = sum(hmac.compare_digest(one, other) for one in right for other in said) > 0
    return known and abs(now.timestamp() - int(timestamp)) <= tolerance.total_seconds()


def read_keys(secrets: str, name: str) -> list[bytes]:
    """Return the keys of secrets that are separated by commas, each whsec_ and base64; `name` is their setting's."""
    return [_key(text, name) for part in secrets.split(",") if (text := part.strip())]


def _prove(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _key(text: str, name: str) -> bytes:
    text = text.removeprefix("whsec_").rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ConfigurationError(f"a secret in {name} is not whsec_ followed by base64")
    return key
