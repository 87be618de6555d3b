"""Sign deliveries as Standard Webhooks specifies, with every current secret."""

from datetime import datetime

from minutehand.errors import ConfigurationError
from minutehand.settings import secret
from minutehand.settings.table import HTTP_UNSIGNED
from minutehand.web.signatures import read_keys, sign

SECRETS = "MINUTEHAND_HTTP_SECRETS"


class SigningError(Exception):
    """The signing secrets are missing or invalid."""


def signature_headers(id: str, moment: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that prove the sender; none if no secret is set and that is allowed."""
    return sign(id, moment, body, _keys())


def _keys() -> list[bytes]:
    try:
        keys = read_keys(secret("MINUTEHAND_HTTP_SECRETS"), SECRETS)
    except ConfigurationError:
        raise SigningError(f"A secret in {SECRETS} is not whsec_ followed by base64.") from None
    if not keys and not HTTP_UNSIGNED.read():
        raise SigningError(
            f"No signing secret is set. Set {SECRETS}, or MINUTEHAND_HTTP_UNSIGNED=1 to deliver unsigned."
        )
    return keys
