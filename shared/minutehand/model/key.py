"""Key: the name of an upcoming job, and its text in the row.

A string stays as it is. An integer becomes its digits, so that 1, "1" and 1.0 are the same key. Parts are joined by
slashes, and a slash inside a part becomes %2F, so that different parts never make the same key: ("order", 17) is
"order/17" in SQL, on the command line and in URLs. Keys are case-sensitive and not trimmed. Groups have the same rules.
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


def key_text(key: object, name: str = "key") -> str | None:
    """Return the text of a key or a group; raise InvalidJobError (`key_fits`, `group_fits`) if it is not valid."""
    if key is None:
        return None
    text = _joined(key, name) if isinstance(key, (list, tuple)) else _text(key, name)
    if (size := len(text.encode(errors="surrogatepass"))) > MAX_BYTES:
        raise InvalidJobError(f"{name}_fits", f"{sentence(f'{name}_fits')}, got {size} bytes")
    return text


def _joined(parts: Sequence[object], name: str) -> str:
    if not 0 < len(parts) <= MAX_PARTS:
        raise InvalidJobError(f"{name}_fits", f"{name} must have 1 to {MAX_PARTS} parts, got {len(parts)}")
    return "/".join(_part(part, name) for part in parts)


def _part(part: object, name: str) -> str:
    text = _text(part, name)
    if not text:
        raise InvalidJobError(f"{name}_fits", f"a part of a {name} must not be empty")
    return text.replace("%", "%25").replace("/", "%2F")


def _text(part: object, name: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, float) and isfinite(part):
        return str(int(part)) if part.is_integer() else repr(part)
    if isinstance(part, int) and not isinstance(part, bool) and abs(part) < LARGEST:
        return str(part)
    raise InvalidJobError(f"{name}_fits", f"{sentence(f'{name}_fits')}, got {type(part).__name__}")
