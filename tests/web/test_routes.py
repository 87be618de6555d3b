"""A queue that is bound to a route: enqueued, worked off by a real worker, handled by a real application."""

import asyncio
import base64
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import Cancel, ConfigurationError, Fail, NewJob, RetryAfter, Snooze, enqueue
from minutehand.web.receiving import DeliveredJob, RouteResponse
from minutehand.web.routes import Route
from minutehand.web.signatures import read_keys, sign
from tests.web.conftest import OLD_SECRET, SECRET, App

KEY = base64.b64encode(bytes(32)).decode()
DAY = timedelta(days=1)


def signed(body: bytes, secret: str = SECRET, moment: datetime | None = None) -> dict[str, str]:
    return sign("route-1", moment or datetime.now(UTC), body, read_keys(secret, ""))


def delivery(**job: Any) -> bytes:
    return json.dumps({"v": 1, "job": {"kind": "welcome", "queue": "emails", **job}, "payload": 1}).encode()


def test_route_enqueues_and_handles_a_job(app: App) -> None:
    @app.route.handles("welcome")
    def welcome(payload: Any) -> Any:
        return {"sent": payload["to"]}

    row = app.worked("welcome", {"to": "ada@example.com"}, key=("customer", 1))

    assert (row.state, row.kind, row.queue, row.key) == ("done", "welcome", "emails", "customer/1")
    assert row.result == {"sent": "ada@example.com"}


def test_handler_may_be_async(app: App) -> None:
    @app.route.handles("welcome")
    async def welcome(payload: Any, job: DeliveredJob) -> Any:
        await asyncio.sleep(0)
        return [payload, job.kind]

    assert app.worked("welcome", 1.5).result == [1.5, "welcome"]


def test_handler_gets_its_job_and_a_typed_payload(either: App) -> None:
    @dataclass
    class Letter:
        to: str

    seen: list[tuple[Letter, DeliveredJob]] = []
    either.route.handles("welcome")(lambda payload, job: seen.append((payload, job)))
    welcome = either.route.find("welcome").function
    welcome.__annotations__["payload"] = Letter
    either.route.handles("welcome")(welcome)

    run_at = datetime(2026, 1, 31, 8, tzinfo=UTC)
    row = either.worked(
        "welcome",
        {"to": "ada"},
        key="k",
        headers={"trace": "t"},
        max_attempts=1,
        run_at=run_at,
        tenant="acme",
    )

    [(payload, job)] = seen
    assert payload == Letter("ada")
    assert (job.id, job.kind, job.queue, job.key, job.tenant) == (row.id, "welcome", "emails", "k", "acme")
    assert (job.attempt, job.max_attempts, job.last, job.redelivered) == (1, 1, True, False)
    assert (job.headers, job.verified) == ({"trace": "t"}, True)
    assert (job.enqueued, job.run_at) == (row.enqueued, row.run_at)
    assert job.idempotency_key.startswith(str(row.id))
    assert timedelta(0) < job.remaining <= timedelta(minutes=5)


def test_error_is_a_failure_with_its_type_and_message(app: App) -> None:
    @app.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise LookupError("no such customer")

    row = app.worked(max_attempts=2)

    assert (row.state, row.attempts) == ("retrying", 1)
    assert row.error
    assert "answered 500: LookupError: no such customer" in row.error["message"]


def test_error_at_the_last_attempt_ends_the_job_dead(either: App) -> None:
    either.route.handles("welcome")(lambda payload: 1 / 0)

    assert either.worked(max_attempts=1).state == "dead"


def test_error_can_be_redacted_to_an_id(either: App, setting: pytest.MonkeyPatch, caplog: Any) -> None:
    setting.setenv("MINUTEHAND_REDACT_ERRORS", "1")

    @either.route.handles("welcome")
    def welcome(payload: Any) -> None:
        raise LookupError("card 4929")

    status, body = either.post(delivery(), **signed(delivery()))

    assert status == 500
    assert body["error"]["type"] == "UnknownError"
    assert "4929" not in json.dumps(body)
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


def test_payload_is_encrypted_from_enqueue_to_handler(app: App, setting: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    app.route.handles("welcome")(seen.append)
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    ids = [app.enqueue("welcome", {"card": "4929"}, key=key) for key in (None, "k")]
    assert all("4929" not in str(app.row(job_id).payload) for job_id in ids)

    app.work()

    assert seen == [{"card": "4929"}] * 2


def test_worker_needs_no_key_and_does_not_decrypt(either: App, setting: pytest.MonkeyPatch) -> None:
    """The application and the worker are one process here; what was posted shows what the worker had."""
    bodies: list[str] = []
    either.route.handles("welcome")(lambda payload, job: bodies.append(json.dumps(payload)))
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    job_id = either.enqueue("welcome", "4929")
    setting.delenv("MINUTEHAND_ENCRYPTION_KEY")

    either.work()

    row = either.row(job_id)
    assert (row.state, row.attempts, bodies) == ("scheduled", 0, [])
    assert row.error
    assert row.error["type"] == "KeyMissingError"
    assert "answered 503" in row.error["message"]  # so the worker had delivered it


def test_payload_encrypted_for_another_job_is_not_handled(either: App, setting: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    either.route.handles("welcome")(seen.append)
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    one, other = either.enqueue("welcome", "one"), either.enqueue("welcome", "other")
    either.database.connection.execute(
        "update minutehand.jobs_live j set payload = o.payload from minutehand.jobs o where o.id = %s and j.id = %s",
        (one, other),
    )

    either.work()

    assert seen == ["one"]
    assert either.row(other).state == "dead"


def test_result_is_encrypted_by_the_route(either: App, setting: pytest.MonkeyPatch) -> None:
    either.route.handles("welcome")(lambda payload: "4929")
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    setting.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")
    row = either.worked()

    from minutehand.encryption.envelope import decrypted_result

    assert "4929" not in str(row.result)
    assert decrypted_result(row.result, row) == "4929"


@pytest.mark.parametrize("size", [50_000, 70_000])
def test_result_above_the_limit_is_not_stored_and_the_job_is_done(either: App, size: int) -> None:
    either.route.handles("welcome")(lambda payload: "x" * size)

    row = either.worked()

    assert row.state == "done"
    assert row.result == ("x" * size if size < 60_000 else None)


def test_result_that_is_not_json_is_not_stored(either: App) -> None:
    either.route.handles("welcome")(lambda payload: object())

    row = either.worked()

    assert (row.state, row.result) == ("done", None)


def refusals(app: App, body: bytes, **headers: str) -> tuple[int, str]:
    status, answer = app.post(body, **headers)
    return status, answer["error"]["type"]


def test_unsigned_or_forged_delivery_is_rejected(app: App) -> None:
    seen: list[Any] = []
    app.route.handles("welcome")(seen.append)
    body, now = delivery(), datetime.now(UTC)
    good = signed(body)

    assert app.post(body, **good)[0] == 200
    assert len(seen) == 1
    wrong = [
        {},
        {**good, "webhook-signature": ""},
        {**good, "webhook-signature": "v1," + base64.b64encode(bytes(32)).decode()},
        {**good, "webhook-id": "route-2"},
        sign("msg_1", now, body, read_keys(SECRET, "")),
        {**good, "webhook-timestamp": str(int(good["webhook-timestamp"]) + 1)},
        {**good, "webhook-timestamp": "soon"},
        signed(body + b" "),
        signed(body, OLD_SECRET),
        signed(body, moment=now - timedelta(minutes=6)),
        signed(body, moment=now + timedelta(minutes=6)),
    ]
    for headers in wrong:
        assert refusals(app, body, **headers) == (401, "UnverifiedDelivery"), headers
    assert len(seen) == 1


def test_http_kind_body_is_not_accepted_as_a_delivery(either: App) -> None:
    """It is signed with the same secrets, and its body is whatever the enqueuer says: another tenant's job, say."""
    seen: list[Any] = []
    either.route.handles("welcome")(seen.append)
    body = json.loads(delivery(tenant="another"))

    job_id = enqueue("http", {"url": either.url, "body": body}, queue="emails", connection=either.database).id
    either.work()

    assert seen == []
    assert "answered 401" in str(either.row(job_id).error)


def test_route_sets_the_maximum_age_of_a_signature(either: App) -> None:
    either.route.handles("welcome")(lambda payload: None)
    old = signed(delivery(), moment=datetime.now(UTC) - timedelta(minutes=6))
    assert either.post(delivery(), **old)[0] == 401
    either.route.tolerance = timedelta(minutes=10)

    assert either.post(delivery(), **old)[0] == 200


def test_secret_rotation_rejects_no_delivery(app: App, setting: pytest.MonkeyPatch) -> None:
    """First the receiver knows both, then the sender signs with both, then with the new one, then the old one goes."""
    app.route.handles("welcome")(lambda payload: None)
    body, now = delivery(), datetime.now(UTC)
    both = f"{SECRET}, {OLD_SECRET}"
    for known, sent in [
        (OLD_SECRET, OLD_SECRET),
        (both, OLD_SECRET),
        (both, both),
        (OLD_SECRET, both),
        (both, SECRET),
        (SECRET, both),
        (SECRET, SECRET),
    ]:
        setting.setenv("MINUTEHAND_HTTP_SECRETS", known)
        assert app.post(body, **sign("route-1", now, body, read_keys(sent, "")))[0] == 200, (known, sent)
    assert app.post(body, **signed(body, OLD_SECRET))[0] == 401


def test_receiver_without_a_secret_rejects_all_requests(either: App, setting: pytest.MonkeyPatch) -> None:
    setting.delenv("MINUTEHAND_HTTP_SECRETS")

    assert refusals(either, delivery(), **signed(delivery())) == (500, "ConfigurationError")
    assert refusals(either, delivery()) == (500, "ConfigurationError")


def test_local_receiver_accepts_unsigned_requests(app: App, setting: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    app.route.handles("welcome")(lambda payload, job: seen.append((payload, job.verified)))
    typed = {"kind": "welcome", "payload": {"to": "ada"}}
    assert app.post(typed)[0] == 401
    setting.setenv("MINUTEHAND_LOCAL", "1")

    assert app.post(typed)[0] == 200
    assert app.post(delivery())[0] == 200
    assert seen == [({"to": "ada"}, False), (1, False)]
    assert app.post(delivery(), **signed(delivery(), OLD_SECRET))[0] == 401


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"v": 1}',
        b'{"v": 2, "job": {}}',
        b'{"v": 1, "job": {"kind": 1}}',
        b"[" * 100_000,
    ],
)
def test_malformed_delivery_is_rejected(either: App, body: bytes) -> None:
    assert refusals(either, body, **signed(body)) == (400, "MalformedDelivery")


def test_job_of_another_queue_is_rejected(either: App) -> None:
    either.route.handles("welcome")(lambda payload: None)
    body = delivery(queue="orders")

    assert refusals(either, body, **signed(body)) == (400, "MalformedDelivery")


def test_other_methods_and_too_large_bodies_are_rejected(app: App, setting: pytest.MonkeyPatch) -> None:
    assert app.post(b"", method="GET")[0] == 405
    setting.setattr("minutehand.web.asgi.BODY_BYTES", 100)
    setting.setattr("minutehand.web.wsgi.BODY_BYTES", 100)
    assert app.post(b"x" * 101)[0] == 413


def test_url_may_be_a_path_or_a_function_of_the_job(either: App, setting: pytest.MonkeyPatch) -> None:
    url, either.route.url = either.url, "/queues/emails"
    with pytest.raises(ConfigurationError, match="MINUTEHAND_BASE_URL is not set"):
        either.enqueue()
    setting.setenv("MINUTEHAND_BASE_URL", either.origin)
    assert (either.row(either.enqueue()).headers or {})["minutehand-route"] == url

    either.route.url = lambda job: f"{either.origin}/queues/{job.kind}"
    assert (either.row(either.enqueue("letters")).headers or {})["minutehand-route"].endswith(
        "/queues/letters"
    )


def test_options_of_a_job_override_those_of_its_route(either: App) -> None:
    route = Route("emails", either.url, max_attempts=3, headers={"team": "crm"})

    one = route.enqueue("welcome", connection=either.database).id
    two = route.enqueue("welcome", max_attempts=5, headers={"a": "b"}, connection=either.database).id

    assert (either.row(one).max_attempts, either.row(two).max_attempts) == (3, 5)
    assert set(either.row(one).headers or {}) == {"team", "minutehand-route"}
    assert set(either.row(two).headers or {}) == {"a", "minutehand-route"}


def test_jobs_are_enqueued_together_and_cancelled_by_key(either: App) -> None:
    seen: list[Any] = []
    either.route.handles("welcome")(seen.append)
    jobs = [NewJob("welcome", n, key=str(n)) for n in range(3)]

    became = list(either.route.enqueue_many(jobs, connection=either.database))
    change = either.route.cancel("1", connection=either.database)
    either.work()

    assert [each.outcome for each in became] == ["created"] * 3
    assert change.outcome == "changed"
    assert sorted(seen) == [0, 2]


def test_allowed_redirect_to_another_host_is_unsigned(either: App, setting: pytest.MonkeyPatch) -> None:
    from tests.functions.conftest import Server

    either.route.handles("welcome")(lambda payload: payload)
    with Server(f"307 Temporary Redirect\nlocation: {either.url}") as elsewhere:
        # To the same address: another one would not get what proves who we are.
        either.route.url = f"http://{elsewhere.authority}/old"
        assert either.worked("welcome", 1).state == "retrying"
        setting.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")
        row = either.worked("welcome", 1)
    assert row.error
    assert "answered 401" in row.error["message"]


def test_receiver_imports_no_framework() -> None:
    import subprocess
    import sys

    code = (
        "import sys, minutehand.web.asgi, minutehand.web.wsgi\n"
        "print(*{'fastapi', 'starlette', 'flask', 'werkzeug', 'uvicorn', 'urllib3', 'cryptography'} & set(sys.modules))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )

    assert completed.stdout.strip() == ""
