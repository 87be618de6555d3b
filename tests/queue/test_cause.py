"""Failures are grouped in SQL by the cause that logs and hooks name."""

import json

import pytest

from minutehand.model.cause import masked_cause
from tests.causes import CAUSES
from tests.queue.stage import Queue

# Beyond these, both leave out a part of a word.
LONG = ["word " * 100 + "ada", "x" * 395 + " ada.lovelace@shop.example", "x" * 500]


@pytest.mark.parametrize("message", [message for message, _ in CAUSES] + LONG)
def test_sql_masks_causes_like_python(queue: Queue, message: str) -> None:
    error = {"type": "ValueError", "message": message}

    (found,) = queue.sql("select minutehand.cause(%(error)s::jsonb) as cause", error=json.dumps(error))

    # SQL stores 200 characters of a message, and names the type of an empty one like that of others.
    expected = masked_cause(error).removeprefix("ValueError").removeprefix(": ")
    assert found["cause"].removeprefix("ValueError: ") == expected[:200]
