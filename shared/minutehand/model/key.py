"""Key: the name of an upcoming job, and its text in the row.

A string stays as it is. An integer becomes its digits, so that 1, "1" and 1.0 are the same key. Parts are joined by
slashes, and a slash inside a part becomes %2F, so that different parts never make the same key: ("order", 17) is
"order/17" in SQL, on the command line and in URLs. Keys are case-sensitive and not trimmed.
"""

from collections.abc import Sequence
from math import isfinite

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

Part = str | int | float
Key = Part | Sequence[Part]
MAX_PARTS = 100
MAX_BYTES = 1024
# Python refuses to convert integers of several thousand digits to text.
LARGEST = 10**1000


def key_text(key: object) -> str | None:
    """Return the text of a key; raise InvalidJobError (`key_fits`) if it is not a valid key."""
    if key is None:
        return None
    text = _joined(key) if isinstance(key, (list, tuple)) else _text(key)
    if (size := len(text.encode(errors="surrogatepass"))) > MAX_BYTES:
        raise InvalidJobError("key_fits", f"{sentence('key_fits')}, got {size} bytes")
    return text


def _joined(parts: Sequence[object]) -> str:
    if not 0 < len(parts) <= MAX_PARTS:
        raise InvalidJobError("key_fits", f"key must have 1 to {MAX_PARTS} parts, got {len(parts)}")
    return "/".join(_part(part) for part in parts)


def _part(part: object) -> str:
    text = _text(part)
    if not text:
        raise InvalidJobError("key_fits", "a part of a key must not be empty")
    return text.replace("%", "%25").replace("/", "%2F")


def _text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, float) and isfinite(part):
        return str(int(part)) if part.is_integer() else repr(part)
    if isinstance(part, int) and not isinstance(part, bool) and abs(part) < LARGEST:
        return str(part)
    raise InvalidJobError("key_fits", f"{sentence('key_fits')}, got {type(part).__name__}")
