"""Outcomes of handlers: results, errors, retries and responses."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import Cancel, ConfigurationError, Fail, RetryAfter, Snooze
from minutehand.web.receiving import RouteResponse
from tests.retries import IN_AN_HOUR
from tests.web.conftest import App
from tests.web.stage import DAY, delivery, signed


def test_error_is_a_failure_with_its_type_and_message(app: App) -> None:
    @app.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise LookupError("no such customer")

    row = app.worked(max_attempts=2, retry=IN_AN_HOUR)

    assert (row.state, row.attempts) == ("retrying", 1)
    assert row.error
    assert "answered 500: LookupError: no such customer" in row.error["message"]


def test_error_at_the_last_attempt_ends_the_job_dead(either: App) -> None:
    either.route.handles("welcome")(lambda payload: 1 / 0)

    assert either.worked(max_attempts=1).state == "dead"


@pytest.mark.parametrize("error", [LookupError, ConfigurationError])
def test_error_can_be_redacted_to_an_id(
    either: App, setting: pytest.MonkeyPatch, caplog: Any, error: type[Exception]
) -> None:
    setting.setenv("MINUTEHAND_REDACT_ERRORS", "1")

    @either.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise error("card 4929-private")

    status, body = either.post(delivery(), **signed(delivery()))

    assert status == 500
    assert body["error"]["type"] == "UnknownError"
    assert "4929-private" not in json.dumps(body)
    assert body["error"]["message"].removeprefix("Unknown error: ") in caplog.text


@pytest.mark.parametrize("delay", [timedelta(hours=1), 3 * DAY])
def test_retry_after_schedules_the_next_attempt(app: App, delay: timedelta) -> None:
    @app.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise RetryAfter(delay, "the bank is closed")

    before = datetime.now(UTC)
    row = app.worked(max_attempts=2)

    assert row.state == "retrying"
    assert delay - timedelta(minutes=1) < row.visible - before < delay + timedelta(minutes=1)
    assert row.error
    assert "503: RetryAfter: the bank is closed" in row.error["message"]


def test_retry_after_is_a_standard_response_header(either: App) -> None:
    @either.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise RetryAfter(timedelta(seconds=90.5))

    import urllib.error
    import urllib.request

    request = urllib.request.Request(either.url, delivery(), signed(delivery()), method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=20)
    assert (refused.value.code, refused.value.headers["retry-after"]) == (503, "91")
    refused.value.close()


@pytest.mark.parametrize(
    ("error", "state", "attempts"),
    [
        (Snooze(DAY), "scheduled", 0),
        (Cancel("no longer needed"), "cancelled", 1),
        (Fail("no such address"), "dead", 1),
    ],
)
def test_outcomes_raised_by_a_handler_reach_the_worker(
    either: App, error: Exception, state: str, attempts: int
) -> None:
    @either.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise error

    row = either.worked(max_attempts=8)

    assert (row.state, row.attempts) == (state, attempts)


def test_handler_may_return_a_response(either: App) -> None:
    either.route.handles("welcome")(
        lambda payload: RouteResponse(429, {"why": "busy"}, {"retry-after": "3600"})
    )

    row = either.worked()

    assert row.state == "retrying"
    assert row.visible - datetime.now(UTC) > timedelta(minutes=50)


def test_unknown_kind_is_released_without_an_attempt(either: App) -> None:
    row = either.worked("unheard")

    assert (row.state, row.attempts) == ("scheduled", 0)
    assert row.error
    assert row.error["type"] == "UnknownKindError"


def test_payload_of_another_type_is_dead_at_once(either: App) -> None:
    @dataclass
    class Letter:
        to: str

    def welcome(payload: Any) -> None: ...

    welcome.__annotations__["payload"] = Letter
    either.route.handles("welcome")(welcome)

    assert either.worked("welcome", {"from": 1}).state == "dead"


@pytest.mark.parametrize("size", [50_000, 70_000])
def test_result_above_the_limit_is_not_stored_and_the_job_is_done(either: App, size: int) -> None:
    either.route.handles("welcome")(lambda payload: "x" * size)

    row = either.worked()

    assert row.state == "done"
    assert (row.result, row.stage) == (("x" * size, None) if size < 60_000 else (None, "result"))


def test_result_that_is_not_json_is_not_stored(either: App) -> None:
    either.route.handles("welcome")(lambda payload: object())

    row = either.worked()

    assert (row.state, row.result, row.stage) == ("done", None, "result")
    assert "object cannot be represented" in (row.error or {})["message"]


def test_handler_that_returns_a_coroutine_fails(either: App) -> None:
    async def send(payload: Any) -> None: ...

    either.route.handles("welcome")(lambda payload: send(payload))

    row = either.worked(retry=IN_AN_HOUR)

    assert row.state == "retrying"
    assert "returned a coroutine that is not awaited" in (row.error or {})["message"]
