"""The cause of a failure in logs says what went wrong, without values of the job."""

import pytest

from minutehand.model.cause import MOST_CHARACTERS, masked_cause
from tests.causes import CAUSES


def cause(message: str, *private: object) -> str:
    return masked_cause({"type": "ValueError", "message": message}, *private)


@pytest.mark.parametrize(
    ("message", "private", "masked"),
    [
        ("no customer Ada", {"names": [{"first": "ada"}]}, "no customer #"),
        ("ADA_LOVELACE is unknown", ["Lovelace", "Ada"], "#_# is unknown"),
        ("the provider is down", {"to": "ada"}, "the provider is down"),
        ("the field total is missing", {"total": 4}, "the field total is missing"),
        ("no Jose\u0301", {"name": "Jos\u00e9"}, "no #"),
        ("no Jos\u00e9", {"name": "Jose\u0301"}, "no #"),
    ],
)
def test_cause_masks_words_of_private_values(message: str, private: object, masked: str) -> None:
    assert cause(message, private) == f"ValueError: {masked}"


@pytest.mark.parametrize(("message", "masked"), CAUSES)
def test_cause_masks_what_may_be_a_value(message: str, masked: str) -> None:
    assert cause(message) == f"ValueError: {masked}"


def test_cause_without_a_message_is_the_type() -> None:
    assert cause("") == "ValueError"


def test_cause_of_values_that_cannot_be_compared_is_the_type() -> None:
    assert cause("mark", {"a": object()}) == "ValueError"
    assert cause("mark", ["x" * MOST_CHARACTERS, "y"]) == "ValueError"


def test_cause_is_bounded() -> None:
    assert len(cause("word " * 1000)) <= 300
    assert len(masked_cause({"type": "E" * 1000, "message": ""})) <= 300


def test_cause_of_a_long_message_ends_before_a_word_that_is_cut() -> None:
    """A part of a value would not be recognized."""
    assert "Love" not in cause("12345678 " * 44 + "Lovelace", "Lovelace")
