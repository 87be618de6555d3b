"""Sign a delivery as the Standard Webhooks specification says, with every secret that is current."""

import os
from datetime import datetime

from minutehand import ConfigurationError
from minutehand.settings import secret
from minutehand.web.signatures import read_keys, sign


class Unsigned(Exception):
    """Secrets that are missing or cannot be read."""


def signature(id: str, moment: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that prove who sent this; no proof where unsigned deliveries were asked for."""
    return sign(id, moment, body, _keys())


def _keys() -> list[bytes]:
    try:
        keys = read_keys(secret("MINUTEHAND_HTTP_SECRETS"), "MINUTEHAND_HTTP_SECRETS")
    except ConfigurationError:
        raise Unsigned("A secret in MINUTEHAND_HTTP_SECRETS is not whsec_ followed by base64.") from None
    if not keys and os.environ.get("MINUTEHAND_HTTP_UNSIGNED") != "1":
        raise Unsigned(
            "There is no secret to sign with: set MINUTEHAND_HTTP_SECRETS, or MINUTEHAND_HTTP_UNSIGNED=1 to do without."
        )
    return keys
