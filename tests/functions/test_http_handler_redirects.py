"""Redirects of the http handler: a failure by default, or checked at every hop."""

import pytest

from minutehand.web.delivery import deliver as http
from minutehand.web.delivery.deliver import Delivery
from minutehand.web.delivery.exchange import Undelivered

pytestmark = pytest.mark.usefixtures("http_environment")


def redirect(location: str, status: str = "307 Elsewhere") -> str:
    return f"{status}\nlocation: {location}"


def test_redirect_is_a_failure_that_names_only_its_origin(server, attempt):
    with (
        server(redirect("https://other.example/hunter2?token=hunter2", "302 Found")) as receiver,
        pytest.raises(Undelivered) as failure,
    ):
        http.handle(Delivery(f"http://{receiver.authority}/"), attempt())

    requested, answered = (
        f"POST http://{receiver.authority}",
        "302, a redirect to https://other.example; redirects are not followed.",
    )
    assert str(failure.value) == f"{requested} answered {answered}"
    assert len(receiver.seen) == 1


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Elsewhere", "308 Moved"])
def test_allowed_redirect_repeats_the_same_request(server, attempt, monkeypatch, status):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")

    with server(redirect("/there?a=1", status), "200 OK") as receiver:
        http.handle(
            Delivery(f"http://{receiver.authority}/here", {"a": 1}, headers={"x-token": "t"}), attempt()
        )

    first, second = receiver.seen
    assert second.line == "POST /there?a=1 HTTP/1.1"
    assert (second.headers, second.body) == (first.headers, first.body)


@pytest.mark.parametrize("status", ["300 Choices", "303 See Other", "304 Not Modified"])
def test_redirect_to_another_method_is_not_followed(server, attempt, monkeypatch, status):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")

    with server(redirect("/there", status)) as receiver, pytest.raises(Undelivered, match="not followed"):
        http.handle(Delivery(f"http://{receiver.authority}/"), attempt())

    assert len(receiver.seen) == 1


def test_redirect_to_another_host_has_no_signature_or_job_header(server, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")
    monkeypatch.setenv("MINUTEHAND_HTTP_SECRETS", "whsec_aHVudGVyMmh1bnRlcjJodW50ZXIy")

    with (
        server("200 OK", host="127.0.0.2") as other,
        server(redirect(f"http://{other.authority}/there")) as receiver,
    ):
        http.handle(
            Delivery(f"http://{receiver.authority}/", {"a": 1}, headers={"authorization": "Bearer abc"}),
            attempt(),
        )

    assert "webhook-signature" in receiver.seen[0].headers
    assert other.seen[0].body == b'{"a":1}'
    assert set(other.seen[0].headers) == {
        "host",
        "content-type",
        "content-length",
        "user-agent",
        "accept-encoding",
    }


@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "ftp://a.example/", "http://["],
)
def test_redirect_to_a_private_address_is_rejected(server, attempt, monkeypatch, location):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")

    with server(redirect(location)) as receiver:
        monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", receiver.authority)
        with pytest.raises(Undelivered, match="a redirect that is refused"):
            http.handle(Delivery(f"http://{receiver.authority}/"), attempt())

    assert len(receiver.seen) == 1


def test_fourth_redirect_is_not_followed(server, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")

    with server(redirect("/again")) as receiver, pytest.raises(Undelivered, match="answered 307, a redirect"):
        http.handle(Delivery(f"http://{receiver.authority}/"), attempt())

    assert len(receiver.seen) == 4
