"""The echo handler: what goes in comes out, unless it is asked to fail."""

import pytest

from handlers import echo


@pytest.mark.parametrize("payload", [None, 0, "text", [1, 2], {"a": {"b": 1}}, {"fail_until": "a word"}])
def test_a_payload_comes_back_as_it_went_in(attempt, payload):
    assert echo.handle(payload, attempt()) == payload


def test_a_job_that_is_asked_to_fail_fails_every_attempt_with_these_words(attempt):
    for number in (1, 2, 50):
        with pytest.raises(RuntimeError, match=r"^the smoke test$"):
            echo.handle({"fail": "the smoke test"}, attempt(attempts=number))


def test_a_job_that_is_asked_to_fail_for_a_while_returns_at_the_attempt_named(attempt):
    payload = {"fail_until": 3}

    for number in (1, 2):
        with pytest.raises(RuntimeError, match=r"^Asked to fail until attempt 3\.$"):
            echo.handle(payload, attempt(attempts=number))
    assert echo.handle(payload, attempt(attempts=3)) == payload


def test_a_job_that_fails_for_a_while_may_have_words_of_its_own(attempt):
    payload = {"fail": "not yet", "fail_until": 2}

    with pytest.raises(RuntimeError, match=r"^not yet$"):
        echo.handle(payload, attempt())
    assert echo.handle(payload, attempt(attempts=2)) == payload
