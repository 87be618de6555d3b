"""The cause of a failure in logs says what went wrong, without values of the job."""

import pytest

from minutehand.model.cause import MOST_CHARACTERS, masked_cause


def cause(message: str, *private: object) -> str:
    return masked_cause({"type": "ValueError", "message": message}, *private)


@pytest.mark.parametrize(
    ("message", "private", "masked"),
    [
        ("the provider is down", {"to": "ada"}, "the provider is down"),
        ("no customer ada@shop.example", {}, "no customer #"),
        ("no customer Ada", {"names": [{"first": "ada"}]}, "no customer #"),
        ("ADA_LOVELACE is unknown", ["Lovelace", "Ada"], "#_# is unknown"),
        ("customer 4711 owes 12.50", {}, "customer # owes #"),
        ("missing field 'iban' in \"order\"", {}, "missing field # in #"),
        ("no order 0198a5b0-0000-7000-8000-000000000001", {}, "no order #"),
        ("the field total is missing", {"total": 4}, "the field total is missing"),
        ("first line\nsecond line", {}, "first line"),
    ],
)
def test_cause_masks_values_and_keeps_words(message: str, private: object, masked: str) -> None:
    assert cause(message, private) == f"ValueError: {masked}"


def test_cause_without_a_message_is_the_type() -> None:
    assert cause("") == "ValueError"


def test_cause_of_values_that_cannot_be_compared_is_the_type() -> None:
    assert cause("mark", {"a": object()}) == "ValueError"
    assert cause("mark", ["x" * MOST_CHARACTERS, "y"]) == "ValueError"


def test_cause_is_bounded() -> None:
    assert len(cause("word " * 1000)) <= 300
