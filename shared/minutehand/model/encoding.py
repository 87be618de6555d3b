"""Base64, as envelopes, keys and signatures use it."""

import base64


def to_base64(value: bytes) -> str:
    """Return bytes as standard base64."""
    return base64.b64encode(value).decode()


def from_base64(text: str) -> bytes:
    """Decode base64, standard or URL-safe, with or without padding; raise ValueError if it is invalid."""
    text = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
