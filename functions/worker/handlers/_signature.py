"""Sign a delivery as the Standard Webhooks specification says, with every secret that is current."""

import base64
import binascii
import hashlib
import hmac
import os
from datetime import datetime

from minutehand.settings import secret


class Unsigned(Exception):
    """Secrets that are missing or cannot be read."""


def signature(id: str, moment: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that prove who sent this; none where unsigned deliveries were asked for.

    While secrets are rotated there are two, and a receiver that knows either of them is content.
    """
    timestamp = str(int(moment.timestamp()))
    signed = b".".join([id.encode(), timestamp.encode(), body])
    proofs = [_prove(key, signed) for key in _keys()]
    headers = {"webhook-id": id, "webhook-timestamp": timestamp}
    return headers | ({"webhook-signature": " ".join(proofs)} if proofs else {})


def _prove(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _keys() -> list[bytes]:
    secrets = [text.strip() for text in secret("MINUTEHAND_HTTP_SECRETS").split(",")]
    keys = [_key(text) for text in secrets if text]
    if not keys and os.environ.get("MINUTEHAND_HTTP_UNSIGNED") != "1":
        raise Unsigned(
            "There is no secret to sign with: set MINUTEHAND_HTTP_SECRETS, or MINUTEHAND_HTTP_UNSIGNED=1 to do without."
        )
    return keys


def _key(text: str) -> bytes:
    text = text.removeprefix("whsec_").rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise Unsigned("A secret in MINUTEHAND_HTTP_SECRETS is not whsec_ followed by base64.")
    return key
