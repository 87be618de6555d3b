"""Payloads survive a round trip through POST and GET unchanged."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thorough import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.integers(10**20, 10**400) | TEXT
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PAYLOADS = st.recursive(
    SCALARS | FLOATS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)
JSON = {"Content-Type": "application/json"}


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    match one, other:
        case (dict(), dict()):
            return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
        case (list(), list()):
            return len(one) == len(other) and all(map(same, one, other))
        case (float(), float()):
            return one == other and math.copysign(1, one) == math.copysign(1, other)
        case _:
            return type(one) is type(other) and bool(one == other)


def there_and_back(api: Any, text: str) -> Any:
    answer = api.post("/jobs", content=f'{{"kind": "echo", "payload": {text}}}'.encode(), headers=JSON)
    assert answer.status_code == 201, answer.text
    return api.get(f"{answer.headers['location']}?include=payload").json()["payload"]


@examples(30, 150, derandomize=True)
@given(payload=PAYLOADS, ascii_only=st.booleans())
def test_any_payload_is_returned_unchanged(api, payload, ascii_only):
    assert same(there_and_back(api, json.dumps(payload, ensure_ascii=ascii_only)), payload)


@pytest.mark.parametrize(
    "text",
    [
        "1e22",
        "1E+22",
        "-0.0",
        "5e-324",
        "1.7976931348623157e308",
        "0.1",
        "1.0",
        "9007199254740993",
        "-1" + "0" * 300,
        "null",
        "true",
        '""',
        r'"\u0000"',
        '"\U0001f4a9\u202e"',
        r'"\ud83d\udca9"',
        '{"": {"__proto__": 1}}',
        "[[], {}]",
    ],
)
def test_unusual_json_is_returned_unchanged(api, text):
    assert same(there_and_back(api, text), json.loads(text))


def test_payload_enqueued_in_sql_is_returned(api, jobs):
    jobs.connection.execute("""select minutehand.enqueue('echo', '{"a": "\\ud800", "b": 1e22}')""")
    (job,) = api.get("/jobs").json()["jobs"]

    assert api.get(f"/jobs/{job['id']}?include=payload").json()["payload"] == {"a": "\ud800", "b": 1e22}
