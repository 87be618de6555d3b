"""Certificates of the http handler: the name is verified, although the connection goes to an address."""

import socket
import ssl

import pytest
import trustme

from minutehand.web.delivery import deliver as http
from minutehand.web.delivery import exchange
from minutehand.web.delivery.deliver import Delivery
from minutehand.web.delivery.exchange import Undelivered

pytestmark = pytest.mark.usefixtures("http_environment")


@pytest.fixture
def authority(monkeypatch, tmp_path):
    """A certificate authority that this test trusts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    # The handler caches the trusted authorities.
    exchange._ssl_context.cache_clear()
    yield authority
    exchange._ssl_context.cache_clear()


def tls(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    return context


def test_certificate_is_checked_against_the_name(server, names, attempt, authority):
    names["proven.example"] = [["127.0.0.1"], ["127.0.0.2"]]
    names_sent = []
    context = tls(authority, "proven.example")
    context.sni_callback = lambda _, name, __: names_sent.append(name)

    with server("200 OK", tls=context) as receiver:
        http.handle(Delivery(f"https://proven.example:{receiver.port}/"), attempt())

    assert names_sent == ["proven.example"]
    assert names["proven.example"] == [["127.0.0.2"]]
    assert receiver.seen[0].headers["host"] == f"proven.example:{receiver.port}"


def test_certificate_is_checked_against_a_bare_address(server, attempt, authority):
    with server("200 OK", tls=tls(authority, "127.0.0.1")) as receiver:
        http.handle(Delivery(f"https://{receiver.authority}/"), attempt())

    assert len(receiver.seen) == 1


@pytest.mark.parametrize("subject", ["other.example", "127.0.0.1"])
def test_certificate_for_another_name_is_not_trusted(server, names, attempt, authority, subject):
    names["proven.example"] = [["127.0.0.1"]]

    with (
        server("200 OK", tls=tls(authority, subject)) as receiver,
        pytest.raises(Undelivered, match="no trusted connection"),
    ):
        http.handle(Delivery(f"https://proven.example:{receiver.port}/"), attempt())

    assert receiver.seen == []


@pytest.mark.usefixtures("authority")
def test_certificate_of_an_unknown_authority_is_not_trusted(server, names, attempt):
    names["proven.example"] = [["127.0.0.1"]]

    with (
        server("200 OK", tls=tls(trustme.CA(), "proven.example")) as receiver,
        pytest.raises(Undelivered, match="no trusted connection"),
    ):
        http.handle(Delivery(f"https://proven.example:{receiver.port}/"), attempt())

    assert receiver.seen == []


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_time_limit_includes_a_secure_connection(server, names, attempt, authority, start):
    def drip(stopping):
        yield start
        while not stopping.wait(0.02):
            yield b"x"

    names["proven.example"] = [["127.0.0.1"]]

    with (
        server(drip, tls=tls(authority, "proven.example")) as receiver,
        pytest.raises(Undelivered, match=r"no complete response within 2 seconds"),
    ):
        http.handle(Delivery(f"https://proven.example:{receiver.port}/", timeout=2), attempt())


def test_time_limit_includes_the_tls_handshake(attempt):
    with (
        socket.create_server(("127.0.0.1", 0)) as receiver,
        pytest.raises(Undelivered, match=r"no complete response within 2 seconds"),
    ):
        http.handle(Delivery(f"https://127.0.0.1:{receiver.getsockname()[1]}/", timeout=2), attempt())


def test_redirect_from_https_to_http_is_rejected(server, names, attempt, authority, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")
    names["proven.example"] = [["127.0.0.1"]]

    with (
        server("200 OK") as plain,
        server(
            f"307 Elsewhere\nlocation: http://{plain.authority}/", tls=tls(authority, "proven.example")
        ) as receiver,
        pytest.raises(Undelivered, match="from https to http"),
    ):
        http.handle(Delivery(f"https://proven.example:{receiver.port}/"), attempt())

    assert plain.seen == []
