"""Responses and failures of the receiver, and the outcome of each."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from minutehand import Fail, RetryAfter
from minutehand.local.receiver import Receiver
from minutehand.model.failure import describe
from minutehand.web.delivery import deliver as http
from minutehand.web.delivery.deliver import Delivery
from minutehand.web.delivery.exchange import Undelivered

pytestmark = pytest.mark.usefixtures("http_environment")


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        yield receiver


def say(status: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("reply", "stored"),
    [
        (say("204 No Content"), None),
        (say("200 OK", body=b'{"a": [1, null]}'), {"a": [1, None]}),
        (say("200 OK", body=b"thank you"), "thank you"),
        (say("200 OK", body=b"caf\xc3\xa9 \xff\x00!"), "café !"),
        (say("200 OK", body=b'"\\u0000"'), '"\\u0000"'),
        (say("200 OK", body=b'"\\ud800"'), '"\\ud800"'),
        (say("200 OK", body=b"NaN"), "NaN"),
        (say("200 OK", body=b"1e999"), "1e999"),
        (say("200 OK", body=b"[" * 4096), "[" * 4096),
        (say("200 OK", body=b'"' + b"x" * 4095 + b'"'), '"' + "x" * 4095),
    ],
)
def test_only_the_storable_part_of_a_response_is_stored(server, attempt, reply, stored):
    with server(reply) as receiver:
        result = http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert result["body"] == stored
    assert isinstance(result["ms"], int)
    assert "\x00" not in json.loads(json.dumps(str(result["body"])))


def test_endless_response_is_read_up_to_64_kib(server, attempt):
    sent = []

    def endless(stopping):
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while not stopping.is_set():
            sent.append(1024)
            yield b"x" * 1024

    with server(endless) as receiver:
        result = http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert result["body"] == "x" * 4096
    # The kernel's buffers hold the difference.
    assert 64 * 1024 <= sum(sent) < 32 * 1024 * 1024


def test_compressed_response_is_not_decompressed(server, attempt):
    with server(say("200 OK", "content-encoding: gzip", body=b"\x1f\x8bpacked")) as receiver:
        result = http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert result["body"] == "\x1fpacked"
    assert receiver.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "404 Not Found", "429 Too Many", "500 Broken", "503 Busy"]
)
def test_error_status_is_retried_by_the_strategy(server, attempt, status):
    with server(say(status)) as receiver, pytest.raises(Undelivered) as failure:
        http.handle(
            Delivery(f"http://{receiver.authority}/a/path?token=hunter2", {"pin": "hunter2"}), attempt()
        )

    assert str(failure.value) == f"POST http://{receiver.authority} answered {status[:3]}."


def test_410_is_dead_at_once(receiver, attempt):
    with pytest.raises(Fail, match="answered 410 Gone"):
        http.handle(Delivery(f"{receiver.url}/gone", {}), attempt())


@pytest.mark.parametrize("status", ["429 Too Many", "503 Busy", "404 Not Found", "500 Broken"])
def test_retry_after_in_seconds_is_honoured(server, attempt, status):
    began = datetime.now(UTC)

    with server(say(status, "Retry-After: 120")) as receiver, pytest.raises(RetryAfter) as retry:
        http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert timedelta(seconds=119) < retry.value.after - began < timedelta(seconds=130)
    assert f"answered {status[:3]}, retry after" in str(retry.value)


def test_retry_after_as_a_date_is_honoured(server, attempt):
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)

    with (
        server(say("503 Busy", f"Retry-After: {format_datetime(moment, usegmt=True)}")) as receiver,
        pytest.raises(RetryAfter) as retry,
    ):
        http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert retry.value.after == moment


# After the year 9999 in UTC.
FAR = "Fri, 31 Dec 9999 23:59:59 -0800"


@pytest.mark.parametrize("value", ["99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_retry_after_is_limited_to_a_day(server, attempt, value):
    with server(say("503 Busy", f"Retry-After: {value}")) as receiver, pytest.raises(RetryAfter) as retry:
        http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())

    assert abs(retry.value.after - datetime.now(UTC) - timedelta(days=1)) < timedelta(seconds=10)


@pytest.mark.parametrize("value", ["0", "-5", "soon", "", "1.5", "²", "Fri, 31 Dec 1999 23:59:59 GMT", FAR])
def test_invalid_retry_after_is_ignored(server, attempt, value):
    reply = say("503 Busy").replace(b"connection", f"retry-after: {value}\r\nconnection".encode("latin-1"))

    with server(reply) as receiver, pytest.raises(Undelivered):
        http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())


def test_refused_connection_is_retried(server, attempt):
    with server(b"") as receiver:
        authority = receiver.authority

    with pytest.raises(
        Undelivered, match=f"^POST http://{authority} failed: the host accepts no connection.$"
    ):
        http.handle(Delivery(f"http://{authority}/secret", {}), attempt())


@pytest.mark.parametrize(
    "reply", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"]
)
def test_incomplete_response_is_retried(server, attempt, reply):
    with (
        server(reply) as receiver,
        pytest.raises(Undelivered, match="closed before the response was complete"),
    ):
        http.handle(Delivery(f"http://{receiver.authority}/", {}), attempt())


@pytest.mark.parametrize(
    "reply",
    ["500 Broken", "302 Found\nlocation: /hunter2", "410 Gone", "503 Busy\nretry-after: 9", b"", None],
)
def test_errors_contain_no_secrets(server, attempt, reply):
    def hang(stopping):
        stopping.wait(5)
        yield b""

    secret = {"headers": {"authorization": "hunter2"}, "body": {"pin": "hunter2"}, "timeout": 0.5}
    with server(hang if reply is None else reply) as receiver:
        delivery = Delivery(f"http://{receiver.authority}/hunter2?token=hunter2", **secret)
        with pytest.raises(Exception, match=f"POST http://{receiver.authority}") as failure:
            http.handle(delivery, attempt())

    assert "hunter2" not in json.dumps(describe(failure.value))


def test_slow_response_ends_at_the_timeout_of_the_delivery(receiver, attempt):
    with pytest.raises(Undelivered, match=r"no complete response within 2 seconds"):
        http.handle(Delivery(f"{receiver.url}/slow?seconds=30", {}, timeout=2), attempt())


def test_slow_response_ends_before_the_attempt_does(receiver, attempt):
    with pytest.raises(Undelivered, match=r"no complete response within 0\.\d+ seconds"):
        http.handle(Delivery(f"{receiver.url}/slow?seconds=30", {}), attempt(remaining=timedelta(seconds=1)))


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nx-a: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_trickling_response_ends_at_the_time_limit(server, attempt, start):
    def drip(stopping):
        yield start
        while not stopping.wait(0.02):
            yield b"x"

    with (
        server(drip) as receiver,
        pytest.raises(Undelivered, match=r"no complete response within 2 seconds"),
    ):
        http.handle(Delivery(f"http://{receiver.authority}/", {}, timeout=2), attempt())


def test_attempt_without_time_left_sends_no_request(receiver, attempt):
    with pytest.raises(Undelivered, match="no time left"):
        http.handle(Delivery(f"{receiver.url}/ok", {}), attempt(remaining=timedelta(seconds=-1)))
    assert receiver.received == []
