"""A payload is the same after enqueue, claim, handler, result and read."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutehand import Enqueued, NewJob, PayloadError, enqueue_many
from minutehand.queries.jobs import get
from tests.queue.stage import Queue
from tests.thorough import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)
EXAMPLES: list[object] = [
    None,
    True,
    0,
    -0.0,
    1e-7,
    5e-324,
    1.7976931348623157e308,
    0.1 + 0.2,
    2**53 + 1,
    10**1000,
    "",
    "\0",
    "a\0b\u0001\u2028\U0001f600é",
    "\\u0000",
    [],
    {},
    {"": {"\0": [None]}},
    {"b": 1, "a": 2},
    [[[[[]]]]],
]


def exact(value: object) -> str:
    """Return a text that distinguishes values that are equal: 1 and 1.0, 0.0 and -0.0, the order of keys."""
    return repr(value)


def round_trip(queue: Queue, payload: object) -> list[Any]:
    """Return the payload from the table, from the handler, and from the result."""
    seen = []

    def echo(payload: object) -> object:
        seen.append(payload)
        return payload

    job_id = queue.enqueue(payload=payload)
    stored = queue.row(job_id).payload
    assert [ending.ending for ending in queue.work(echo)] == ["done"]
    return [stored, *seen, queue.row(job_id).result]


@pytest.mark.parametrize("payload", EXAMPLES, ids=lambda payload: repr(payload)[:30])
def test_payload_is_returned_unchanged(queue: Queue, payload: object) -> None:
    assert {exact(value) for value in round_trip(queue, payload)} == {exact(payload)}


@examples(30, 150)
@given(payload=JSON)
def test_any_payload_is_returned_unchanged(direct_queue: Queue, payload: object) -> None:
    assert {exact(value) for value in round_trip(direct_queue, payload)} == {exact(payload)}


@examples(15, 50)
@given(payloads=st.lists(JSON, max_size=20))
def test_any_payload_is_returned_unchanged_by_copy(direct_queue: Queue, payloads: list[object]) -> None:
    database = direct_queue.database
    made = list(enqueue_many([NewJob("echo", payload) for payload in payloads], connection=database))

    stored = [exact(get(database, item.id).payload) for item in made if isinstance(item, Enqueued)]

    assert stored == [exact(payload) for payload in payloads]


def test_dataclasses_and_models_become_objects(queue: Queue) -> None:
    from pydantic import BaseModel

    @dataclass
    class Letter:
        to: str
        copies: int

    class Parcel(BaseModel):
        to: str
        grams: float

    letter, parcel = (
        queue.enqueue(payload=Letter("Ada", 2)),
        queue.enqueue(payload=Parcel(to="Ada", grams=0.5)),
    )

    assert queue.row(letter).payload == {"to": "Ada", "copies": 2}
    assert queue.row(parcel).payload == {"to": "Ada", "grams": 0.5}


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)
DEEP: list[object] = []
for _ in range(100_000):
    DEEP = [DEEP]
NOT_JSON = {
    "nan": float("nan"),
    "infinity": [float("inf")],
    "object": object(),
    "type": int,
    "key": {1: 2},
    "inner key": [{"a": {None: 1}}],
    "surrogate": "\ud800",
    "surrogate key": {"\udfff": 1},
    "circle": CIRCLE,
    "depth": DEEP,
    "digits": 10**5000,
}


@pytest.mark.parametrize("payload", NOT_JSON.values(), ids=NOT_JSON)
def test_value_that_json_would_change_is_rejected(direct_queue: Queue, payload: object) -> None:
    with pytest.raises(PayloadError) as refused:
        direct_queue.enqueue(payload=payload)

    assert refused.value.rule == "payload_is_json"
    assert direct_queue.sql("select * from minutehand.jobs") == []


def test_payload_size_is_limited_by_the_settings(queue: Queue) -> None:
    longest = "é" * ((262144 - 2) // 2)
    job_id = queue.enqueue(payload=longest)
    assert queue.row(job_id).payload == longest

    with pytest.raises(PayloadError) as refused:
        queue.enqueue(payload=longest + "e")
    assert refused.value.rule == "payload_fits"

    queue.sql("update minutehand.settings set max_payload = 10")
    queue.enqueue(payload="12345678")
    with pytest.raises(PayloadError):
        queue.enqueue(payload="123456789")
    assert len(queue.sql("select * from minutehand.jobs")) == 2


def test_number_from_sql_reaches_the_handler_with_all_its_digits(queue: Queue) -> None:
    queue.sql("select minutehand.enqueue('echo', '[12345678901234567890123, 0.1, -0, 1.50]')")
    seen: list[object] = []
    queue.work(seen.append)

    assert json.dumps(seen) == "[[12345678901234567890123, 0.1, 0, 1.5]]"


@pytest.mark.parametrize("depth", [900, 2500])
@pytest.mark.parametrize("payload", ["depth", "digits"])
def test_payload_that_only_sql_accepts_does_not_crash_a_worker(
    queue: Queue, payload: str, depth: int
) -> None:
    """A payload that Python cannot parse does not stop the other jobs of its chunk."""
    text = "[" * depth + "]" * depth if payload == "depth" else "9" * depth * 2
    (job,) = queue.sql("select id from minutehand.enqueue('echo', %(text)s::json)", text=text)
    queue.enqueue(payload="neighbour")
    seen: list[object] = []
    (ending, _) = queue.work(seen.append, limit=2)

    assert "neighbour" in seen
    row = queue.row(job["id"])
    if depth == 2500:
        assert (ending.ending, row.error and row.error["type"]) == ("dead", "MismatchError")
        assert row.payload == text
