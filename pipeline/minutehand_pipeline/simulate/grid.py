"""Grid: policies as people say them, in files, in texts, and in every combination of some values."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, get_args

from minutehand.model.retry import Retry, Strategy
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.simulate.policy import FIELDS, MAY_BE_NONE, WHOLE, Limit, Policy

TEXTS = {"name", "mode", "architecture"}
MOST = 10_000


def read_policies(path: Path) -> list[Policy]:
    """Read one policy, or a list of them, from a JSON file; raises InputError."""
    try:
        told = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    many = told if isinstance(told, list) else [told]
    if not many or not all(isinstance(each, dict) for each in many):
        raise InputError(f"{path} holds neither an object nor a list of objects")
    return [from_json({"name": path.stem if len(many) == 1 else f"{path.stem} {n}", **each})
            for n, each in enumerate(many, 1)]  # fmt: skip


def from_json(told: Mapping[str, Any]) -> Policy:
    """Build a policy from the fields' names; `retry` and `limits` are objects. Raises InputError."""
    if unknown := set(told) - set(FIELDS):
        raise InputError(f"a policy has no {' and no '.join(sorted(unknown))}; it has {', '.join(FIELDS)}")
    facts = dict(told)
    if facts.get("retry") is not None:
        facts["retry"] = read_retry(facts["retry"])
    try:
        facts["limits"] = tuple(Limit(**limit) for limit in facts.get("limits") or ())
    except TypeError:
        raise InputError("limits are a list of objects with most, and queue, kind or key") from None
    return Policy(**facts)


def to_json(policy: Policy) -> dict[str, Any]:
    """Return what `from_json` reads."""
    return {**asdict(policy), "retry": policy.retry.to_json() if policy.retry else None}


def read_retry(told: object) -> Retry:
    """Read a retry strategy: an object as the queue keeps it, or a text such as `fixed:30` or `exponential:10:3600:3`.

    The text is strategy:min:max:factor, of which all but the first may be left out. Raises InputError.
    """
    if isinstance(told, str):
        names, parts = ("strategy", "min", "max", "factor"), told.split(":")
        told = dict(zip(names, parts, strict=False)) if len(parts) <= len(names) else {}
    try:
        facts = {**Retry().to_json(), **dict(told)}  # type: ignore[call-overload]
        retry = Retry(
            strategy=facts["strategy"], jitter=facts["jitter"], factor=float(facts["factor"]),
            min=timedelta(seconds=float(facts["min"])), max=timedelta(seconds=float(facts["max"])),
        )  # fmt: skip
    except (TypeError, ValueError, OverflowError, KeyError):
        raise InputError(f"{told!r} is no retry strategy such as exponential:10:3600:3") from None
    if (
        retry.strategy not in get_args(Strategy)
        or retry.factor < 0
        or retry.min < timedelta()
        or retry.max < retry.min
    ):
        raise InputError(
            f"{told!r} is no retry: fixed, linear or exponential, min and factor 0 or more, max from min on"
        )
    return retry


def grid(bases: Sequence[Policy], said: Sequence[str]) -> list[Policy]:
    """Return each base with each combination of values; `said` are texts such as `chunk=1,5,10`.

    Raises InputError for a name that is none, a value that makes no sense, or more than 10,000 policies.
    """
    axes = [_axis(each) for each in said]
    if math.prod(len(values) for _, values in axes) * len(bases) > MOST:
        raise InputError(f"the grid has more than {MOST} policies: leave out some values")
    return [
        replace(base, **dict(chosen), name=_named(base.name, chosen))
        for base in bases
        for chosen in product(*([(name, value) for value in values] for name, values in axes))
    ]


def _axis(said: str) -> tuple[str, list[Any]]:
    name, equals, values = said.partition("=")
    if not equals or name not in FIELDS or name in ("name", "limits"):
        raise InputError(f"{said!r} is no axis of a grid such as chunk=1,5,10")
    return name, [_value(name, text) for text in values.split(",")]


def _value(name: str, text: str) -> Any:
    if name in MAY_BE_NONE and text == "none":
        return None
    if name == "retry":
        return read_retry(text)
    if name in TEXTS:
        return text
    try:
        return int(text) if name in WHOLE else float(text)
    except ValueError:
        raise InputError(f"{name} is a number, not {text!r}") from None


def _named(base: str, chosen: Sequence[tuple[str, Any]]) -> str:
    shown = (
        f"{name}={value.strategy if isinstance(value, Retry) else _brief(value)}" for name, value in chosen
    )
    return " ".join(filter(None, [base, *shown]))


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
