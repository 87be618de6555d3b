"""Payloads and results of routes are encrypted; only the application decrypts them."""

import json
from typing import Any

import pytest

from tests.web.conftest import App
from tests.web.stage import KEY


def test_payload_is_encrypted_from_enqueue_to_handler(app: App, setting: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    app.route.handles("welcome")(seen.append)
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    ids = [app.enqueue("welcome", {"card": "4929-private"}, key=key) for key in (None, "k")]
    assert all("4929-private" not in str(app.row(job_id).payload) for job_id in ids)

    app.work()

    assert seen == [{"card": "4929-private"}] * 2


def test_worker_needs_no_key_and_does_not_decrypt(either: App, setting: pytest.MonkeyPatch) -> None:
    """The application and the worker share a process here, so the posted body shows what the worker had."""
    bodies: list[str] = []
    either.route.handles("welcome")(lambda payload, job: bodies.append(json.dumps(payload)))
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    job_id = either.enqueue("welcome", "4929-private")
    setting.delenv("MINUTEHAND_ENCRYPTION_KEY")

    either.work()

    row = either.row(job_id)
    assert (row.state, row.attempts, bodies) == ("scheduled", 0, [])
    assert row.error
    assert row.error["type"] == "KeyMissingError"
    assert "answered 503" in row.error["message"]  # the worker delivered it


def test_payload_encrypted_for_another_job_is_not_handled(either: App, setting: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    either.route.handles("welcome")(seen.append)
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    one, other = either.enqueue("welcome", "one"), either.enqueue("welcome", "other")
    either.database.connection.execute(
        "update minutehand.jobs_live j set payload = o.payload from minutehand.jobs o where o.id = %s and j.id = %s",
        (one, other),
    )

    either.work()

    assert seen == ["one"]
    assert either.row(other).state == "dead"


def test_result_is_encrypted_by_the_route(either: App, setting: pytest.MonkeyPatch) -> None:
    either.route.handles("welcome")(lambda payload: "4929-private")
    setting.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    setting.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")
    row = either.worked()

    from minutehand.encryption.envelope import decrypted_result

    assert "4929-private" not in str(row.result)
    assert decrypted_result(row.result, row) == "4929-private"
