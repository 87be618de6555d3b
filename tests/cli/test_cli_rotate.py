"""`minutehand rotate`: what waits is encrypted with the new key, and then needs the old one no more."""

import os
from base64 import b64encode

import pytest

OLD, NEW = (b64encode(os.urandom(32)).decode() for _ in range(2))
KEY, PREVIOUS = "MINUTEHAND_ENCRYPTION_KEY", "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"


@pytest.fixture
def waiting(invoke, monkeypatch):
    """Three jobs in two queues, and a schedule, under the old key; the new one is set."""
    monkeypatch.setenv(KEY, OLD)
    for queue in ("default", "default", "mail"):
        assert invoke("enqueue", "echo", '"s3cret"', "--queue", queue).exit_code == 0
    assert invoke("schedules", "put", "nightly", "@daily", "echo", '"s3cret"').exit_code == 0
    monkeypatch.setenv(KEY, NEW)
    monkeypatch.setenv(PREVIOUS, OLD)


def test_all_that_waits_is_encrypted_anew_once_and_the_old_key_can_go(invoke, lines, waiting, monkeypatch):
    assert lines(invoke("rotate", "-o", "json")) == [{"written": 4}]
    monkeypatch.delenv(PREVIOUS)

    again = invoke("rotate")

    assert (again.exit_code, again.stderr) == (0, "0 encrypted anew\n")
    (entry, *_) = lines(invoke("audit", "--verb", "rotate", "-o", "json"))
    assert "s3cret" not in str(entry)


def test_one_queue_is_encrypted_anew_and_no_schedule(invoke, lines, waiting):
    assert lines(invoke("rotate", "--queue", "mail", "-o", "json")) == [{"written": 1}]
    assert lines(invoke("rotate", "-o", "json")) == [{"written": 3}]


def test_without_the_old_key_it_says_so_and_quotes_none(invoke, waiting, monkeypatch):
    monkeypatch.delenv(PREVIOUS)

    refused = invoke("rotate")

    assert refused.exit_code != 0
    assert "does not have" in refused.stderr and KEY in refused.stderr
    assert OLD not in refused.stderr and NEW not in refused.stderr and "Traceback" not in refused.stderr


def test_without_a_key_there_is_nothing_to_encrypt_with_and_that_is_said(invoke):
    refused = invoke("rotate")

    assert refused.exit_code != 0
    assert KEY in refused.stderr
