"""The echo handler returns its payload, or fails on request."""

import pytest

from handlers import echo


@pytest.mark.parametrize("payload", [None, 0, "text", [1, 2], {"a": {"b": 1}}, {"fail_until": "a word"}])
def test_echo_returns_the_payload(attempt, payload):
    assert echo.handle(payload, attempt()) == payload


def test_echo_fails_every_attempt_with_the_given_message(attempt):
    for number in (1, 2, 50):
        with pytest.raises(RuntimeError, match=r"^the smoke test$"):
            echo.handle({"fail": "the smoke test"}, attempt(attempts=number))


def test_echo_succeeds_at_the_given_attempt(attempt):
    payload = {"fail_until": 3}

    for number in (1, 2):
        with pytest.raises(RuntimeError, match=r"^Asked to fail until attempt 3\.$"):
            echo.handle(payload, attempt(attempts=number))
    assert echo.handle(payload, attempt(attempts=3)) == payload


def test_echo_fails_until_an_attempt_with_the_given_message(attempt):
    payload = {"fail": "not yet", "fail_until": 2}

    with pytest.raises(RuntimeError, match=r"^not yet$"):
        echo.handle(payload, attempt())
    assert echo.handle(payload, attempt(attempts=2)) == payload
