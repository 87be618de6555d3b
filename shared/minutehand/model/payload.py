"""Payload: strict JSON that round-trips, without NaN, coerced keys or lone surrogates."""

import dataclasses
import json
from collections.abc import Mapping
from math import isinf
from typing import Any

from minutehand.errors import PayloadError


def _refuse(value: object) -> None:
    """Explain how to send a value that JSON cannot represent."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(
            'bytes are not JSON; send {"type": "image/png", "base64": ...}, or store them elsewhere and send their name'
        )
    raise TypeError(f"{type(value).__name__} cannot be represented")


_to_json = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_refuse
).encode


def encode(payload: object) -> str:
    """Return the payload as JSON text; raise PayloadError if JSON would lose or change anything.

    Dataclasses and pydantic models become objects. Numbers keep every digit.
    """
    try:
        payload = _plain(payload)
        _check_keys(payload)
        text = _to_json(payload)
        text.encode()
    except UnicodeEncodeError:
        raise PayloadError("payload_is_json", "payload must be valid Unicode, got a lone surrogate") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError("payload_is_json", f"payload must be JSON: {error}") from None
    return text


class Unreadable(str):
    """JSON that Python cannot read: nested too deeply, or with a number that is too long or too large."""


def decode(text: str | bytes) -> Any:
    """Return the value of JSON text, or the text as Unreadable, so that one row cannot fail a whole query."""
    try:
        return json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError):
        return Unreadable(text if isinstance(text, str) else bytes(text).decode())


def is_encrypted(value: object) -> bool:
    """Return whether a payload or result is an encryption envelope."""
    inner = value.get("minutehand") if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(inner, dict) and "v" in inner and "text" in inner


def _finite(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits} is too large for a float")
    return number


def _plain(payload: object) -> object:
    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        return dataclasses.asdict(payload)
    if hasattr(payload, "model_dump"):
        return payload.model_dump(mode="json")
    return payload


def _check_keys(value: Any) -> None:
    """Refuse keys that are not strings, which JSON would convert."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
            if not isinstance(inner, str):
                _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)
