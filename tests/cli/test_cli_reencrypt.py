"""`minutehand reencrypt`: pending payloads are encrypted with the new key."""

import os
from base64 import b64encode

import pytest

OLD, NEW = (b64encode(os.urandom(32)).decode() for _ in range(2))
KEY, PREVIOUS = "MINUTEHAND_ENCRYPTION_KEY", "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"


@pytest.fixture
def waiting(invoke, monkeypatch):
    """Three jobs in two queues and a schedule, encrypted with the old key; the new key is set."""
    monkeypatch.setenv(KEY, OLD)
    for queue in ("default", "default", "mail"):
        assert invoke("enqueue", "echo", '"s3cret"', "--queue", queue).exit_code == 0
    assert invoke("schedules", "put", "nightly", "@daily", "echo", '"s3cret"').exit_code == 0
    monkeypatch.setenv(KEY, NEW)
    monkeypatch.setenv(PREVIOUS, OLD)


def test_reencrypt_makes_the_old_key_unnecessary(invoke, lines, waiting, monkeypatch):
    assert lines(invoke("reencrypt", "-o", "json")) == [{"reencrypted": 4}]
    monkeypatch.delenv(PREVIOUS)

    again = invoke("reencrypt")

    assert (again.exit_code, again.stderr) == (0, "0 payloads re-encrypted\n")
    (entry, *_) = lines(invoke("audit", "--verb", "reencrypt", "-o", "json"))
    assert "s3cret" not in str(entry)


def test_reencrypt_of_a_queue_excludes_schedules(invoke, lines, waiting):
    assert lines(invoke("reencrypt", "--queue", "mail", "-o", "json")) == [{"reencrypted": 1}]
    assert lines(invoke("reencrypt", "-o", "json")) == [{"reencrypted": 3}]


def test_missing_old_key_is_reported_without_quoting_keys(invoke, waiting, monkeypatch):
    monkeypatch.delenv(PREVIOUS)

    refused = invoke("reencrypt")

    assert refused.exit_code != 0
    assert f"is missing; set it in {KEY} or {PREVIOUS}" in refused.stderr
    assert OLD not in refused.stderr and NEW not in refused.stderr and "Traceback" not in refused.stderr


def test_missing_key_is_reported(invoke):
    refused = invoke("reencrypt")

    assert refused.exit_code != 0
    assert KEY in refused.stderr
