"""Keys: whatever names a job, as the one text that is in its row.

A text is itself. A whole number is its digits, so that 1 and "1" are the same key, and 1.0 too, since JSON has one
kind of number. Several parts are joined by slashes, and a slash inside a part is written %2F: two different lists of
parts are never one key, whoever chose the parts, and ("order", 17) is the key "order/17" for SQL, for the command
line and in a URL. Case counts, and nothing is trimmed.
"""

from collections.abc import Sequence
from math import isfinite

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

Part = str | int | float
Key = Part | Sequence[Part]
MOST_PARTS = 100
LARGEST = 10**1000  # Python writes no number of some thousand digits


def key_text(key: object) -> str | None:
    """Return the text that a key is in its row; raise InvalidJobError (`key_fits`) for what cannot be one."""
    if key is None or isinstance(key, str):
        return key
    if not isinstance(key, (list, tuple)):
        return _text(key)
    if not 0 < len(key) <= MOST_PARTS:
        raise InvalidJobError("key_fits", f"a key has 1 to {MOST_PARTS} parts; this has {len(key)}")
    return "/".join(_part(part) for part in key)


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
