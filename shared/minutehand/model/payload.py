"""What goes in comes out: JSON without NaN, without coerced keys, without surrogates."""

import dataclasses
import json
from collections.abc import Mapping
from math import isinf
from typing import Any

from minutehand.errors import PayloadError


def _refuse(value: object) -> None:
    """Say what to do with what JSON has no form for."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(
            'bytes are no text; send {"type": "image/png", "base64": ...}, or keep them elsewhere and send their name'
        )
    raise TypeError(f"{type(value).__name__} has no form in it")


_to_json = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_refuse
).encode


def encode(payload: object) -> str:
    """Return the payload as JSON text; raise PayloadError for what JSON would lose or change.

    Dataclasses and pydantic models become objects. Integers of any size and floats keep every digit.
    """
    try:
        payload = _plain(payload)
        _check_keys(payload)
        text = _to_json(payload)
        text.encode()
    except UnicodeEncodeError:
        raise PayloadError(
            "payload_is_json", "the payload has a lone surrogate, which is no Unicode text"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError("payload_is_json", f"the payload is not JSON: {error}") from None
    return text


class Unreadable(str):
    """JSON of another language that Python does not read: nested too deep, or a number too long or too large."""


def decode(text: str | bytes) -> Any:
    """Return what the JSON says, or the text itself as Unreadable, so that one row never costs its neighbours."""
    try:
        return json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError):
        return Unreadable(text if isinstance(text, str) else bytes(text).decode())


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
    """Refuse keys that are no strings, which JSON would turn into some."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
            if not isinstance(inner, str):
                _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)
