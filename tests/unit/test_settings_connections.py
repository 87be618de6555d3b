"""The settings of connections: what each means, and what makes no sense is said."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from minutehand import ConfigurationError, settings
from minutehand.settings import KEEP, connect_seconds, iam, verified


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


class Answers:
    """What keeps a secret, until it is down."""

    def __init__(self) -> None:
        self.text, self.asked = "old", 0

    def __call__(self) -> str:
        self.asked += 1
        if not self.text:
            raise ConfigurationError("nobody answers")
        return self.text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day, which a test sets."""
    now = [1_000_000.0]
    monkeypatch.setattr(settings, "time", lambda: now[0])
    return now


def test_what_cannot_be_had_anew_is_kept_for_another_minute_with_a_warning(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    kept, answers = settings._Kept(), Answers()
    told = []
    for minutes, text in [(0, "old"), (5, ""), (5.9, "new"), (6, "new"), (6.9, "newer")]:
        clock[0], answers.text = 1_000_000 + minutes * 60, text
        told.append((kept.text("mine", answers, KEEP), answers.asked))

    assert told == [("old", 1), ("old", 2), ("old", 2), ("new", 3), ("new", 3)]
    assert caplog.messages == ["what was read before of mine is used for another minute: nobody answers"]


def test_what_was_never_had_or_was_refused_is_not_kept(clock: list[float]) -> None:
    kept, answers = settings._Kept(), Answers()
    kept.text("mine", answers, KEEP)
    kept.forget("mine")
    answers.text = ""

    with pytest.raises(ConfigurationError, match="nobody answers"):
        kept.text("mine", answers, KEEP)


def test_another_s_error_is_named_but_not_quoted(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> str:
        raise ValueError("hunter2")

    kept = settings._Kept()
    kept.text("mine", Answers(), KEEP)
    clock[0] += 3600

    assert kept.text("mine", fail, KEEP) == "old"
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text


def test_one_secret_does_not_wait_for_another() -> None:
    kept = settings._Kept()
    inner: list[str] = []
    with ThreadPoolExecutor() as threads:

        def ask() -> str:
            inner.append(threads.submit(kept.text, "other", Answers(), KEEP).result(timeout=10))
            return "mine"

        assert kept.text("mine", ask, KEEP) == "mine"
    assert inner == ["old"]
