"""Read policies from files and texts, and expand them over a grid of values."""

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
from minutehand_pipeline.simulate.policy import FIELDS, INTEGERS, OPTIONAL, Limit, Policy

TEXTS = {"name", "architecture", "mode"}
MAX_POLICIES = 10_000
# The parts of a retry strategy as a text, in order.
RETRY = ("strategy", "min", "max", "factor")
YEAR = timedelta(days=365)


def read_policies(path: Path) -> list[Policy]:
    """Read a policy or a list of policies from a JSON file. Raises InputError."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON: {error}") from None
    objects = content if isinstance(content, list) else [content]
    if not objects or not all(isinstance(each, dict) for each in objects):
        raise InputError(f"{path} must contain an object or a list of objects")
    names = [path.stem] if len(objects) == 1 else [f"{path.stem} {n}" for n in range(1, len(objects) + 1)]
    return [policy_from_dict({"name": name, **each}) for name, each in zip(names, objects, strict=True)]


def policy_from_dict(facts: Mapping[str, Any]) -> Policy:
    """Build a policy from a dictionary; `retry` and `limits` are dictionaries too. Raises InputError."""
    if unknown := sorted(set(facts) - set(FIELDS)):
        raise InputError(
            f"unknown field of a policy: {', '.join(unknown)}; expected some of {', '.join(FIELDS)}"
        )
    fields = dict(facts)
    if fields.get("retry") is not None:
        fields["retry"] = parse_retry(fields["retry"])
    try:
        fields["limits"] = tuple(Limit(**limit) for limit in fields.get("limits") or ())
    except TypeError:
        raise InputError(
            "limits must be objects with limit, and queue, kind, key, group, tenant or per"
        ) from None
    return Policy(**fields)


def policy_to_dict(policy: Policy) -> dict[str, Any]:
    """Return the dictionary that `policy_from_dict` reads."""
    return {**asdict(policy), "retry": policy.retry.to_json() if policy.retry else None}


def parse_retry(value: object) -> Retry:
    """Read a retry strategy from a dictionary, or from a text such as `fixed:30` or `exponential:10:3600:3`.

    The text is strategy:min:max:factor; all but the first part are optional. Raises InputError.
    """
    parts: object = value
    if isinstance(value, str):
        texts = value.split(":")
        parts = dict(zip(RETRY, texts, strict=False)) if len(texts) <= len(RETRY) else None
    if not isinstance(parts, Mapping):
        raise InputError(f"expected a retry strategy such as exponential:10:3600:3, got {value!r}")
    if unknown := [name for name in parts if name not in (*RETRY, "jitter")]:
        raise InputError(
            f"unknown field of a retry strategy: {unknown[0]}; expected some of {', '.join(RETRY)}, jitter"
        )
    try:
        facts = {**Retry().to_json(), **parts}
        retry = Retry(
            strategy=facts["strategy"],
            jitter=facts["jitter"],
            factor=float(facts["factor"]),
            min=timedelta(seconds=float(facts["min"])),
            max=timedelta(seconds=float(facts["max"])),
        )
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"expected a retry strategy such as exponential:10:3600:3, got {value!r}") from None
    _check_retry(retry, value)
    return retry


def _check_retry(retry: Retry, value: object) -> None:
    """Raise InputError for a strategy that a job must not have either."""
    if retry.strategy not in get_args(Strategy):
        raise InputError(f"retry strategy must be fixed, linear or exponential, got {value!r}")
    if not isinstance(retry.jitter, bool):
        raise InputError(f"jitter of a retry strategy must be true or false, got {value!r}")
    if not 0 <= retry.factor <= 1000 or not timedelta() <= retry.min <= retry.max <= YEAR:
        raise InputError(
            "retry requires min of 0 or more, max from min to a year, and factor from 0 to 1000, "
            f"got {retry.min.total_seconds():g}, {retry.max.total_seconds():g} and {retry.factor:g} from {value!r}"
        )


def expand_grid(bases: Sequence[Policy], axes: Sequence[str]) -> list[Policy]:
    """Return each base with each combination of values; `axes` are texts such as `chunk=1,5,10`.

    Raises InputError for an unknown name, an invalid value, or more than 10,000 policies.
    """
    parsed = [_parse_axis(axis) for axis in axes]
    names = [name for name, _ in parsed]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(
            f"expected one --grid for {repeated[0]}, got {len(repeated)}: pass --grid {repeated[0]}=V,V"
        )
    if math.prod(len(values) for _, values in parsed) * len(bases) > MAX_POLICIES:
        raise InputError(f"the grid has more than {MAX_POLICIES} policies: pass fewer values")
    return [
        replace(base, **dict(chosen), name=_name(base.name, chosen))
        for base in bases
        for chosen in product(*([(name, value) for value in values] for name, values in parsed))
    ]


def _parse_axis(axis: str) -> tuple[str, list[Any]]:
    name, equals, values = axis.partition("=")
    if not equals or name not in FIELDS or name in ("name", "limits"):
        raise InputError(f"--grid must be NAME=VALUE,VALUE,..., such as chunk=1,5,10, got {axis!r}")
    return name, [_parse_value(name, text) for text in values.split(",")]


def _parse_value(name: str, text: str) -> Any:
    if name in OPTIONAL and text == "none":
        return None
    if name == "retry":
        return parse_retry(text)
    if name in TEXTS:
        return text
    try:
        return int(text) if name in INTEGERS else float(text)
    except ValueError:
        raise InputError(f"{name} must be a number, got {text!r}") from None


def _name(base: str, chosen: Sequence[tuple[str, Any]]) -> str:
    return " ".join(filter(None, [base, *(f"{name}={_short(value)}" for name, value in chosen)]))


def _short(value: Any) -> str:
    if isinstance(value, Retry):
        return (
            f"{value.strategy}:{value.min.total_seconds():g}:{value.max.total_seconds():g}:{value.factor:g}"
        )
    return f"{value:g}" if isinstance(value, float) else str(value)
