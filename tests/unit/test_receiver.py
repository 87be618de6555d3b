"""The receiver of local runs: signature checks, recorded deliveries and deliberate failures."""

import base64
import json
import socket
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

import pytest
import urllib3
from standardwebhooks import Webhook

from minutehand.local.receiver import Receiver, is_signed

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, no").decode()


def post(url: str, body: bytes = b"{}", **headers: str) -> Any:
    with urllib3.PoolManager(
        headers={name.replace("_", "-"): value for name, value in headers.items()}
    ) as pool:
        return pool.request("POST", url, body=body, retries=False)


def signed(body: bytes = b"{}", moment: datetime | None = None, id: str = "job-1") -> dict[str, str]:
    moment = moment or datetime.now(UTC)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(id, moment, body.decode()),
    }


def test_delivery_is_recorded_unchanged():
    with Receiver() as receiver:
        answer = post(receiver.url + "/ok?a=1&b=2", b'{"n": 1}', X_Name="Value")

    [received] = receiver.received
    assert answer.status == 200
    assert json.loads(answer.data) == {"message": "received"}
    assert (received.method, received.path, received.query) == ("POST", "/ok", {"a": "1", "b": "2"})
    assert received.headers["x-name"] == "Value"
    assert received.json == {"n": 1}
    assert received.status == 200
    assert not received.verified
    assert abs(received.at - datetime.now(UTC)) < timedelta(seconds=10)


def test_receiver_listens_on_the_loopback_only():
    with Receiver() as receiver:
        assert receiver.url.startswith("http://127.0.0.1:")
        assert receiver._server.server_address[0] == "127.0.0.1"


def test_receiver_listens_on_the_given_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    with Receiver(port=port) as receiver:
        assert receiver.url == f"http://127.0.0.1:{port}"
        assert post(receiver.url + "/ok").status == 200


def test_signature_of_an_independent_library_is_verified():
    with Receiver(SECRET) as receiver:
        assert post(receiver.url + "/ok", b'{"a":1}', **signed(b'{"a":1}')).status == 200

    assert receiver.received[0].verified


@pytest.mark.parametrize(
    "headers",
    [
        {},
        signed(b"another body"),
        signed(moment=datetime.now(UTC) - timedelta(days=1)),
        signed(moment=datetime.now(UTC) + timedelta(days=1)),
        signed() | {"webhook-id": "job-2"},
        signed() | {"webhook-timestamp": "soon"},
        signed() | {"webhook-signature": "v1,"},
        signed() | {"webhook-signature": "v2," + signed()["webhook-signature"][3:]},
    ],
)
def test_wrongly_signed_delivery_is_rejected_and_recorded(headers):
    with Receiver(SECRET) as receiver:
        assert post(receiver.url + "/ok", **headers).status == 401

    assert [(received.verified, received.status) for received in receiver.received] == [(False, 401)]


def test_one_of_several_signatures_is_enough():
    headers = signed()
    headers["webhook-signature"] = f"v1,b3RoZXI= v1a,eA== {headers['webhook-signature']}"

    assert is_signed(SECRET, headers, b"{}", datetime.now(UTC))


def test_flaky_receiver_rejects_the_first_attempts_of_each_job():
    with Receiver() as receiver:
        answers = [
            (job, post(receiver.url + "/flaky?fail=2", webhook_id=job))
            for job in ("a", "b", "a", "b", "a", "a")
        ]

    assert [answer.status for job, answer in answers if job == "a"] == [503, 503, 200, 200]
    assert [answer.status for job, answer in answers if job == "b"] == [503, 503]
    assert [answer.headers.get("retry-after") for _, answer in answers] == ["1"] * 4 + [None] * 2


@pytest.mark.parametrize(
    ("query", "expected"), [("", "1"), ("?after=7", "7"), ("?after=0", None), ("?after=x%0d%0ay:1", "1")]
)
def test_flaky_receiver_sets_retry_after(query, expected):
    with Receiver() as receiver:
        assert post(receiver.url + "/flaky" + query).headers.get("retry-after") == expected


@pytest.mark.parametrize(
    ("path", "status"), [("/broken", 500), ("/gone", 410), ("/elsewhere", 404), ("/slow?seconds=0", 200)]
)
def test_path_selects_the_behaviour(path, status):
    with Receiver() as receiver:
        assert [post(receiver.url + path).status for _ in range(3)] == [status] * 3


def test_slow_delivery_is_answered_when_the_receiver_stops():
    waiting, statuses = Event(), []
    receiver = Receiver(on_delivery=lambda _: waiting.set())
    receiver.start()
    client = Thread(target=lambda: statuses.append(post(receiver.url + "/slow?seconds=60").status))
    client.start()

    assert waiting.wait(60)
    assert statuses == []
    receiver.stop()
    client.join(60)
    assert statuses == [200]


def test_receiver_records_only_the_latest_deliveries():
    with Receiver(keep=2) as receiver:
        for number in range(4):
            post(receiver.url + f"/ok?n={number}")

    assert [received.query["n"] for received in receiver.received] == ["2", "3"]


def test_delivery_is_reported_before_it_is_answered():
    reported = []

    with Receiver(on_delivery=reported.append) as receiver:
        post(receiver.url + "/ok")
        assert reported == receiver.received
        post(receiver.url + "/gone")

    assert [received.status for received in reported] == [200, 410]


def test_body_above_the_limit_is_rejected_unread():
    with (
        Receiver() as receiver,
        socket.create_connection(("127.0.0.1", int(receiver.url.rpartition(":")[2]))) as client,
    ):
        client.sendall(b"POST /ok HTTP/1.1\r\ncontent-length: 1048577\r\n\r\n")
        answer = client.makefile("rb").readline()

    assert b" 413 " in answer
    assert receiver.received == []


def test_receiver_is_silent_and_restarts_after_two_stops(capfd):
    receiver = Receiver()
    with receiver:
        post(receiver.url + "/ok")
        with socket.create_connection(("127.0.0.1", int(receiver.url.rpartition(":")[2]))) as client:
            client.sendall(b"POST /ok HTTP/1.1\r\ncontent-length: 5\r\n\r\n")
    receiver.stop()
    with receiver:
        assert post(receiver.url + "/ok").status == 200

    assert capfd.readouterr() == ("", "")


def test_stopped_receiver_does_not_listen():
    with Receiver() as receiver:
        url = receiver.url

    with pytest.raises(urllib3.exceptions.HTTPError):
        post(url + "/ok")
