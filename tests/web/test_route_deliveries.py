"""A route rejects deliveries that are unsigned, forged, expired or malformed."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import enqueue
from minutehand.web.signatures import read_keys, sign
from tests.web.conftest import OLD_SECRET, SECRET, App
from tests.web.stage import delivery, refusals, signed


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
