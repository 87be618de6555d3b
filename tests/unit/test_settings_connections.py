"""The settings of connections: what each means, and what makes no sense is said."""

from collections.abc import Callable, Mapping

import pytest

from minutehand import ConfigurationError
from minutehand.settings import connect_seconds, iam, verified


def test_without_a_word_a_connection_has_five_seconds_and_neither_tokens_nor_verification() -> None:
    assert (connect_seconds({}), iam({}), verified({})) == (5, False, False)


def test_each_is_what_its_variable_says() -> None:
    assert connect_seconds({"MINUTEHAND_CONNECT_TIMEOUT": "30"}) == 30
    assert iam({"MINUTEHAND_DATABASE_IAM": "1"})
    assert not iam({"MINUTEHAND_DATABASE_IAM": "0"})
    assert verified({"MINUTEHAND_DATABASE_TLS": "verify"})


@pytest.mark.parametrize(
    ("read", "name", "value", "sentence"),
    [
        (connect_seconds, "MINUTEHAND_CONNECT_TIMEOUT", "0", "a whole number from 1 to 900"),
        (connect_seconds, "MINUTEHAND_CONNECT_TIMEOUT", "2.5", "a whole number from 1 to 900"),
        (iam, "MINUTEHAND_DATABASE_IAM", "yes", "it is 0 or 1, or empty"),
        (verified, "MINUTEHAND_DATABASE_TLS", "require", "it is verify, or empty"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(
    read: Callable[[Mapping[str, str]], object], name: str, value: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} is '{value}': .*{sentence}"):
        read({name: value})
