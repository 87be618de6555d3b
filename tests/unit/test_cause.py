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
        ('no row "Ada\nLovelace"', {}, "no row #"),
        ('no row "Ada' + " Lovelace" * 50 + '" here', {}, "no row #"),
        ("it's not {'name': 'Ada", {}, "it's not {#: #"),
        ('no "Ada \\"the Countess\\" Lovelace" here', {}, "no # here"),
        ("no 'Ada O'Brien' here", {}, "no # here"),
        (
            "no \u201cAda\u201d, \u201eAda\u201c, \u2018Ada\u2019, \u00abAda\u00bb or `Ada`",
            {},
            "no #, #, #, # or #",
        ),
        ("no Jose\u0301", {"name": "Jos\u00e9"}, "no #"),
        ("no Jos\u00e9", {"name": "Jose\u0301"}, "no #"),
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
    assert len(masked_cause({"type": "E" * 1000, "message": ""})) <= 300


def test_cause_of_a_long_message_ends_before_a_word_that_is_cut() -> None:
    """A part of a value would not be recognized."""
    assert "Love" not in cause("12345678 " * 44 + "Lovelace", "Lovelace")
