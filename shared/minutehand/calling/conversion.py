"""Conversion: a payload as the type that the handler's signature declares, the way back from `encode`.

A pydantic model validates itself, and msgspec converts every other type: dataclasses, Structs, TypedDicts, enums,
datetimes, UUIDs, Decimals, bytes, sets and containers of these. Where the payload comes from makes no difference.
"""

import typing
from typing import Any

from minutehand.errors import MismatchError
from minutehand.model.payload import Unreadable

# Annotations that accept every payload, or every one of a JSON type, and need no msgspec.
ANYTHING = (None, Any, object)
PLAIN = (dict, list, str, bool)


def convert(payload: Any, expected: Any) -> Any:
    """Return the payload as the expected type, or unchanged without one; raise MismatchError if it does not fit."""
    if isinstance(payload, Unreadable):
        raise MismatchError(
            "the payload is JSON that Python cannot read: nested too deeply, or a number too large"
        )
    if expected in ANYTHING:
        return payload
    if _is_plain(expected) and isinstance(payload, typing.get_origin(expected) or expected):
        return payload
    return _convert_by_msgspec(payload, expected)


def _is_plain(expected: Any) -> bool:
    """Whether a type is one of JSON's, with any contents."""
    return expected in PLAIN or expected in (dict[str, Any], list[Any])


def _convert_by_msgspec(payload: Any, expected: Any) -> Any:
    # Imported only when used, for the sake of cold starts.
    import msgspec

    try:
        return msgspec.convert(payload, type=expected, str_keys=True, dec_hook=_to_model)
    except msgspec.ValidationError as error:
        raise MismatchError(str(error)) from None


def _to_model(expected: Any, payload: Any) -> Any:
    """Let a pydantic model validate itself, also inside other types. msgspec adds the place to its error."""
    if not hasattr(expected, "model_validate"):
        raise TypeError(f"payloads cannot be converted to {expected.__name__}")
    return expected.model_validate(payload)
