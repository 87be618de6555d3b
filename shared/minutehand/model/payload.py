"""Payload: strict JSON that round-trips, without NaN, coerced keys or lone surrogates.

`minutehand.calling.conversion` is the way back, into the type that a handler declares.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from json.scanner import make_scanner
from math import isinf
from typing import Any

from minutehand.errors import PayloadError


def _to_builtins(value: Any) -> Any:
    """Return a value of a type that JSON lacks as plain values, from which `convert` restores it."""
    # Imported only when used, for the sake of cold starts.
    import msgspec

    return msgspec.to_builtins(value, str_keys=True, enc_hook=_of_model)


def _of_model(value: Any) -> Any:
    """Return the fields of a pydantic model; explain how to send any other value."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(
        f"{type(value).__name__} cannot be represented; pass a dataclass, or a value that msgspec encodes"
    )


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_to_builtins)
_to_json = _encoder.encode


def _made_once() -> Callable[[Any, int], Iterable[str]] | None:
    """Return the C function behind the encoder, which its `encode` would create for each value; None without it.

    It has no dictionary of what it is encoding: a circular value ends in a RecursionError.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    quote = json.encoder.encode_basestring
    return make and make(None, _to_builtins, quote, None, ":", ",", False, False, False)


_to_chunks = _made_once()


def encode(payload: object, name: str = "payload") -> str:
    """Return the payload as JSON text; raise PayloadError, with this name, for a value that has no form in JSON.

    Whatever msgspec encodes can be sent, and `convert` restores it as the declared type: dataclasses, Structs and
    pydantic models become objects, sets become lists, bytes become base64, and dates, times, durations (ISO 8601),
    UUIDs and Decimals become strings. Numbers keep every digit.
    """
    try:
        if payload is None:
            return "null"
        _check_keys(payload)
        text = _to_json(payload) if _to_chunks is None else "".join(_to_chunks(payload, 0))
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        raise PayloadError("payload_is_json", f"{name} must be valid Unicode, got a lone surrogate") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError("payload_is_json", f"{name} must be JSON: {error}") from None
    # Code of the value, such as a property of a model.
    except Exception as error:
        raise PayloadError(
            "payload_is_json", f"{name} must be JSON: reading it raised {type(error).__name__}"
        ) from None
    return text


class Unreadable(str):
    """JSON that Python cannot read: nested too deeply, or with a number that is too long or too large."""


def decode(text: str | bytes) -> Any:
    """Return the value of JSON text, or the text as Unreadable, so that one row cannot fail a whole query."""
    text = text if isinstance(text, str) else text.decode()
    try:
        value, end = _scan(text, 0)
        # Most texts have no spaces around the value, for which the decoder would search.
        return value if end == len(text) else _decoder.decode(text)
    except StopIteration:
        return _with_spaces(text)
    except (ValueError, RecursionError):
        return Unreadable(text)


def is_encrypted(value: object) -> bool:
    """Return whether a payload or result is an encryption envelope."""
    inner = value.get("minutehand") if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(inner, dict) and "v" in inner and "text" in inner


def _finite(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits} is too large for a float")
    return number


# Made once: json.loads would make one for each call.
_decoder = json.JSONDecoder(parse_float=_finite)


# What `raw_decode` calls.
_scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_decoder)  # type: ignore[arg-type]


def _with_spaces(text: str) -> Any:
    """Return the value of a text that begins with a space, or that is not JSON."""
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError):
        return Unreadable(text)


def _check_keys(value: Any) -> None:
    """Refuse keys that are not strings, which JSON would convert."""
    # The check of the abstract class takes longer.
    if type(value) is dict or isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the keys of an object must be strings, got {key!r}")
            # Most values are scalars, and a call takes longer.
            if inner is not None and not isinstance(inner, (str, int, float)):
                _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_keys(inner)
