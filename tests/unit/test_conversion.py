"""A payload of any type that msgspec encodes is restored as the type that the handler declares."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pytest
from pydantic import BaseModel

from minutehand.calling.conversion import convert
from minutehand.errors import MismatchError, PayloadError
from minutehand.model.payload import decode, encode


class Plan(Enum):
    FREE = "free"


class Point(NamedTuple):
    x: int
    y: int


class Options(TypedDict, total=False):
    copies: int


class Parcel(BaseModel):
    grams: Decimal
    sent: datetime | None = None


class Line(msgspec.Struct):
    product: UUID
    price: Decimal


@dataclass
class Order:
    lines: list[Line]
    parcel: Parcel
    plan: Plan = Plan.FREE
    by_day: dict[date, int] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)


ID = UUID("019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10")
NOON = datetime(2026, 3, 1, 12, 30, 0, 5, UTC)
VALUES: list[tuple[Any, object]] = [
    (datetime, NOON),
    (datetime, NOON.replace(tzinfo=None)),
    (date, NOON.date()),
    (time, time(8, 30)),
    (timedelta, timedelta(days=3, microseconds=1)),
    (timedelta, -timedelta(seconds=90)),
    (UUID, ID),
    (Decimal, Decimal("0.10")),
    (Plan, Plan.FREE),
    (bytes, b"\xff\0"),
    (set[int], {1, 2}),
    (frozenset[UUID], frozenset({ID})),
    (tuple[int, str], (1, "a")),
    (Point, Point(1, 2)),
    (Options, {"copies": 2}),
    (dict[str, list[datetime]], {"at": [NOON]}),
    (Mapping[str, int], {"a": 1}),
    (Line, Line(ID, Decimal("9.90"))),
    (Parcel, Parcel(grams=Decimal("0.5"), sent=NOON)),
    (list[Parcel], [Parcel(grams=Decimal(1))]),
    (
        Order,
        Order(
            [Line(ID, Decimal("1.10"))], Parcel(grams=Decimal(2)), by_day={NOON.date(): 3}, by_number={1: "a"}
        ),
    ),
    (Line | None, None),
    (Literal["a"], "a"),
    (float, 1),
]


@pytest.mark.parametrize(("expected", "value"), VALUES, ids=[f"{each}"[:40] for each, _ in VALUES])
def test_value_is_restored_as_the_declared_type(expected: Any, value: object) -> None:
    restored = convert(decode(encode(value)), expected)

    assert (restored, type(restored)) == (value, float if expected is float else type(value))


@pytest.mark.parametrize("expected", [None, Any, object, dict, dict[str, Any]])
def test_payload_without_a_narrower_type_stays_as_it_is(expected: Any) -> None:
    payload = {"of": [1, {"a": None}]}

    assert convert(payload, expected) is payload


@pytest.mark.parametrize(
    ("expected", "payload", "message"),
    [
        (dict, [], "Expected `object`, got `array`"),
        (str, 1, "Expected `str`, got `int`"),
        (int, "1", "Expected `int`, got `str`"),
        (UUID, "x", "Invalid UUID"),
        (list[Line], [{"product": str(ID)}], r"missing required field `price` - at `\$\[0\]`"),
        (Parcel, {"grams": "x"}, "grams"),
        (Order, {"lines": [], "parcel": {}}, r"at `\$.parcel`"),
        (json.JSONEncoder, {}, "payloads cannot be converted to JSONEncoder"),
    ],
)
def test_payload_that_does_not_fit_is_a_mismatch(expected: Any, payload: object, message: str) -> None:
    with pytest.raises(MismatchError, match=message):
        convert(payload, expected)


def test_value_inside_a_dataclass_is_strict_json_too() -> None:
    @dataclass
    class Reading:
        value: float

    with pytest.raises(PayloadError, match="payload must be JSON"):
        encode(Reading(float("nan")))
