"""The http handler as a receiver sees it: requests and signatures."""

import base64
import json
import os
import subprocess
import sys

import msgspec
import pytest
from standardwebhooks import Webhook

from minutehand import Fail
from minutehand.handle import handle
from minutehand.handlers import HandlerPackage
from minutehand.local.receiver import Receiver
from minutehand.model.outcome import Done, Failed
from minutehand.web.delivery import deliver as http
from minutehand.web.delivery.deliver import Delivery

pytestmark = pytest.mark.usefixtures("http_environment")

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, no").decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"the one that was used before it.").decode()


@pytest.fixture(autouse=True)
def secret(http_environment):
    http_environment.delenv("MINUTEHAND_HTTP_UNSIGNED")
    http_environment.setenv("MINUTEHAND_HTTP_SECRETS", SECRET)


@pytest.fixture
def receiver():
    with Receiver(SECRET) as receiver:
        yield receiver


def test_delivery_is_json_with_headers_about_its_job(receiver, attempt):
    job = attempt(queue="mail", attempts=3)
    body = {"greeting": "Grüße", "n": 1.5, "deep": [{"a": None}]}

    result = http.handle(Delivery(f"{receiver.url}/ok", body), job)

    [received] = receiver.received
    assert result["status"] == 200
    assert result["body"] == {"message": "received"}
    assert received.method == "POST"
    assert received.json == body
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"].startswith("minutehand/")
    assert received.headers["minutehand-queue"] == "mail"
    assert received.headers["minutehand-job"] == str(job.id)
    assert received.headers["minutehand-attempt"] == "3"
    assert received.headers["idempotency-key"] == job.idempotency_key
    assert received.headers["webhook-id"] == job.idempotency_key
    assert received.headers["host"] == receiver.url.removeprefix("http://")


def test_payload_is_converted_to_a_delivery():
    delivery = msgspec.convert(
        {"url": "https://example.com", "headers": {"x-a": "b"}, "timeout": 3}, Delivery
    )

    assert delivery == Delivery("https://example.com", headers={"x-a": "b"}, timeout=3)
    for wrong in (
        {},
        {"url": 1},
        {"url": "u", "method": "TRACE"},
        {"url": "u", "headers": {"a": 1}},
        {"url": "u", "timeout": "3"},
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, Delivery)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
def test_delivery_uses_its_method_and_needs_no_body(receiver, attempt, method):
    http.handle(Delivery(f"{receiver.url}/ok?a=b%20c", method=method), attempt())

    [received] = receiver.received
    assert (received.method, received.query, received.body) == (method, {"a": "b c"}, b"")
    assert "content-type" not in received.headers


def test_independent_library_accepts_the_signature(receiver, attempt):
    http.handle(Delivery(f"{receiver.url}/ok", {"a": 1}), attempt())

    [received] = receiver.received
    assert Webhook(SECRET).verify(received.body, received.headers) == {"a": 1}
    assert received.verified


def test_receiver_may_have_either_secret_during_a_rotation(receiver, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_SECRETS", f"{SECRET}, {OLD_SECRET.removeprefix('whsec_')}")

    http.handle(Delivery(f"{receiver.url}/ok", {"a": 1}), attempt())

    [received] = receiver.received
    assert len(received.headers["webhook-signature"].split()) == 2
    for secret in (SECRET, OLD_SECRET):
        Webhook(secret).verify(received.body, received.headers)


def test_changed_body_has_no_valid_signature(receiver, attempt):
    http.handle(Delivery(f"{receiver.url}/ok", {"a": 1}), attempt())

    [received] = receiver.received
    with pytest.raises(Exception, match="No matching signature found"):
        Webhook(SECRET).verify(received.body + b" ", received.headers)


def test_delivery_without_a_secret_is_not_sent(receiver, attempt, monkeypatch):
    monkeypatch.delenv("MINUTEHAND_HTTP_SECRETS")

    with pytest.raises(Fail, match="MINUTEHAND_HTTP_UNSIGNED=1"):
        http.handle(Delivery(f"{receiver.url}/ok", {}), attempt())
    assert receiver.received == []


def test_invalid_secret_is_rejected_and_not_quoted(attempt, monkeypatch):
    for wrong in ("whsec_hunter2!", "whsec_"):
        monkeypatch.setenv("MINUTEHAND_HTTP_SECRETS", wrong)
        with pytest.raises(Fail, match="not whsec_ followed by base64") as failure:
            http.handle(Delivery("http://127.0.0.1:9/", {}), attempt())
        assert "hunter2" not in str(failure.value)


def test_delivery_is_unsigned_if_that_is_allowed(attempt, monkeypatch):
    monkeypatch.delenv("MINUTEHAND_HTTP_SECRETS")
    monkeypatch.setenv("MINUTEHAND_HTTP_UNSIGNED", "1")

    with Receiver() as receiver:
        http.handle(Delivery(f"{receiver.url}/ok", {}), attempt())

    [received] = receiver.received
    assert "webhook-signature" not in received.headers
    assert received.headers["webhook-id"] == attempt().idempotency_key


def test_worker_passes_a_delivery_to_the_http_kind(receiver, attempt):
    payload = {"url": f"{receiver.url}/ok", "body": {"a": 1}, "timeout": 5}

    outcome = handle(attempt(payload=payload), HandlerPackage("handlers"))

    assert isinstance(outcome, Done)
    assert json.loads(outcome.result)["status"] == 200


def test_invalid_delivery_is_dead_and_sends_nothing(receiver, attempt):
    outcome = handle(
        attempt(payload={"url": f"{receiver.url}/ok", "method": "TRACE"}), HandlerPackage("handlers")
    )

    assert isinstance(outcome, Failed)
    assert outcome.final
    assert receiver.received == []


def test_handler_imports_no_heavy_module():
    heavy = {"boto3", "botocore", "fastapi", "idna", "msgspec", "pydantic", "requests"}
    code = f"import sys, handlers.http; print(*sys.modules.keys() & {heavy})"
    path = os.pathsep.join(sys.path)

    loaded = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, check=True, capture_output=True
    )

    assert loaded.stdout == b"\n"
