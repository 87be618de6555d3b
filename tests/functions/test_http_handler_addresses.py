"""Addresses of the http handler: only public ones, resolved once, and the checked one is used."""

import socket
from threading import Event

import pytest

from minutehand import Fail
from minutehand.web.delivery import deliver as http
from minutehand.web.delivery.addresses import Destination, RefusedDelivery, resolve
from minutehand.web.delivery.deliver import Delivery
from minutehand.web.delivery.exchange import Undelivered

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.9.9.9",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "192.0.0.192",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2001:db8::1",
    "3fff::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.fixture(autouse=True)
def strict(http_environment):
    http_environment.delenv("MINUTEHAND_HTTP_ALLOW")


@pytest.mark.parametrize("address", PRIVATE)
def test_private_address_is_rejected(attempt, address):
    host = f"[{address}]" if ":" in address else address

    with pytest.raises(Fail, match="not at a public address"):
        http.handle(Delivery(f"http://{host}/"), attempt())


@pytest.mark.parametrize("address", PRIVATE)
def test_name_with_a_private_address_is_rejected(names, attempt, address):
    names["innocent.example"] = [[address]]

    with pytest.raises(Fail, match=r"innocent\.example is not at a public address"):
        http.handle(Delivery("http://innocent.example/"), attempt())


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "017700000001", "127.1", "127.0.0.1."])
def test_unusually_written_address_is_rejected(attempt, host):
    with pytest.raises(Fail, match="not at a public address"):
        http.handle(Delivery(f"http://{host}/"), attempt())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::"]
)
def test_public_address_is_accepted(address):
    host = f"[{address}]" if ":" in address else address

    assert resolve(Destination.parse(f"https://{host}/"), 5) == [address]


def test_name_with_one_private_address_is_rejected(names):
    names["mixed.example"] = [["8.8.8.8", "10.0.0.1"]]

    with pytest.raises(RefusedDelivery):
        resolve(Destination.parse("https://mixed.example/"), 5)


def test_name_is_resolved_once_and_the_checked_address_is_used(server, names, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", "127.0.0.1/32")
    names["rebinding.example"] = [["127.0.0.1"], ["127.0.0.2"]]

    with server("200 OK") as checked, server("200 OK", host="127.0.0.2", port=checked.port) as other:
        http.handle(Delivery(f"http://rebinding.example:{checked.port}/"), attempt())

    assert [seen.headers["host"] for seen in checked.seen] == [f"rebinding.example:{checked.port}"]
    assert other.seen == []
    assert names["rebinding.example"] == [["127.0.0.2"]]


def test_next_address_is_tried_if_one_refuses_the_connection(server, names, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", "127.0.0.0/8")
    names["two.example"] = [["127.0.0.2", "127.0.0.1"]]

    with server("200 OK") as receiver:
        result = http.handle(Delivery(f"http://two.example:{receiver.port}/"), attempt())

    assert result["status"] == 200


@pytest.mark.parametrize(
    ("allow", "reached"),
    [
        ("localhost", True),
        ("LOCALHOST:{port}", True),
        ("10.0.0.0/8, 127.0.0.0/8", True),
        ("127.0.0.1", True),
        ("localhost:1", False),
        ("10.0.0.0/8", False),
        ("host", False),
        ("", False),
    ],
)
def test_allowed_entry_is_a_host_a_port_or_a_network(server, names, attempt, monkeypatch, allow, reached):
    names["localhost"] = [["127.0.0.1"]]

    with server("200 OK") as receiver:
        monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", allow.format(port=receiver.port))
        delivery = Delivery(f"http://LocalHost:{receiver.port}/")
        if reached:
            http.handle(delivery, attempt())
        else:
            with pytest.raises(Fail):
                http.handle(delivery, attempt())

    assert len(receiver.seen) == reached


def test_allowed_name_allows_no_other_name_at_its_address(names, attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", "localhost, example")
    names["innocent.example"] = [["127.0.0.1"]]

    with pytest.raises(Fail):
        http.handle(Delivery("http://innocent.example/"), attempt())


def test_unresolved_name_is_retried(monkeypatch, attempt):
    def fail(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    with pytest.raises(
        Undelivered,
        match=r"^POST https://nowhere.example failed: The address of nowhere.example was not found\.$",
    ):
        http.handle(Delivery("https://nowhere.example/"), attempt())


def test_slow_lookup_ends_at_the_time_limit(monkeypatch, attempt):
    answered = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(30))

    with pytest.raises(Undelivered, match="was not found within the time limit"):
        http.handle(Delivery("https://slow.example/", timeout=0.1), attempt())
    answered.set()
