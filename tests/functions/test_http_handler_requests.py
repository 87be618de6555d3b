"""Malicious payloads of the http handler: invalid URLs and headers."""

import pytest

from minutehand import Fail
from minutehand.web.delivery import deliver as http
from minutehand.web.delivery.deliver import Delivery

pytestmark = pytest.mark.usefixtures("http_environment")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "//example.com/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "http:",
        "http:///hunter2",
        "http://:80/hunter2",
        "http://example.com:0/hunter2",
        "http://example.com:99999/hunter2",
        "http://user:hunter2@example.com/",
        "http://user@example.com/hunter2",
        "http://exam ple.com/hunter2",
        "http://example.com/hunter2 HTTP/1.1",
        "http://example.com/hunter2\r\nx-injected: 1",
        "http://example.com/hunter2\x00",
        "http://example.com\\@127.0.0.1/hunter2",
        "http://[::1/hunter2",
        "http://" + "a" * 64 + ".example/hunter2",
        "http://a..example/hunter2",
        "http://①②⑦.⓪.⓪.①/hunter2",
    ],
)
def test_invalid_url_is_dead_at_once_and_not_quoted(attempt, url):
    with pytest.raises(Fail) as failure:
        http.handle(Delivery(url), attempt())

    assert "hunter2" not in str(failure.value)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-a": "b\r\nx-injected: 1"},
        {"x-a": "b\nx-injected: 1"},
        {"x-a": "b\x00"},
        {"x-a": "日本"},
        {"x-a\r\nx-injected": "1"},
        {"x a": "1"},
        {"x:a": "1"},
        {"": "1"},
        {"Host": "other.example"},
        {"content-length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "upgrade"},
        {"Webhook-Signature": "v1,forged"},
        {"webhook-id": "other"},
        {"Idempotency-Key": "other"},
        {"minutehand-attempt": "9"},
    ],
)
def test_invalid_or_reserved_header_is_rejected(server, attempt, headers):
    with server("200 OK") as receiver, pytest.raises(Fail, match="header"):
        http.handle(Delivery(f"http://{receiver.authority}/", headers=headers), attempt())

    assert receiver.seen == []


def test_other_headers_are_sent_unchanged(server, attempt):
    headers = {
        "Authorization": "Bearer abc",
        "X-Name": "café",
        "Content-Type": "application/cloudevents+json",
    }

    with server("200 OK") as receiver:
        http.handle(Delivery(f"http://{receiver.authority}/", {}, headers=headers), attempt())

    [seen] = receiver.seen
    assert {name: seen.headers[name.lower()] for name in headers} == headers


@pytest.mark.parametrize(
    "delivery", [Delivery("http://a.example", {}, "GET"), Delivery("http://a.example", timeout=0)]
)
def test_invalid_delivery_is_dead_at_once(attempt, delivery):
    with pytest.raises(Fail):
        http.handle(delivery, attempt())
