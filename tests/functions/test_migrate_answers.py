"""CloudFormation always gets a response, and its signed URL is never logged."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functions.cloudformation import Context, event, last_response
from tests.functions.conftest import Server
from tests.functions.fleet import load

FUNCTION = Path(__file__).parents[2] / "functions" / "migrate"


@pytest.fixture
def storage() -> Iterator[Server]:
    """S3, where CloudFormation waits for the answer."""
    with Server("200 OK") as server:
        yield server


@pytest.fixture
def app() -> Any:
    return load("migrate")


def test_failed_answer_is_repeated(app: Any, storage: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAUSES", (0, 0, 0))
    storage.replies[:0] = ["503 Slow Down", b""]

    app.handler(event("Delete", storage), Context())

    assert len(storage.seen) == 3
    assert len({seen.body for seen in storage.seen}) == 1
    assert last_response(storage)["Status"] == "SUCCESS"


def test_failed_answer_is_logged_without_its_url(
    app: Any, storage: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app, "PAUSES", (0, 0))
    storage.replies[:] = ["403 Forbidden"]

    app.handler(event("Delete", storage), Context())

    assert len(storage.seen) == 2
    assert "subnets can reach S3" in caplog.text
    assert "X-Amz-Signature" not in caplog.text


def test_all_repetitions_fit_into_the_time_for_the_answer(app: Any) -> None:
    assert sum(app.PAUSES) + len(app.PAUSES) * app.REQUEST_SECONDS < app.RESPONSE_SECONDS


@pytest.mark.parametrize("request_type", ["Destroy", None, 3])
def test_unknown_request_type_fails_and_is_answered(app: Any, storage: Server, request_type: Any) -> None:
    app.handler({**event("Create", storage), "RequestType": request_type}, Context())

    assert last_response(storage)["Status"] == "FAILED"
    assert "Create, Update or Delete" in last_response(storage)["Reason"]


def test_event_without_ids_is_answered(app: Any, storage: Server) -> None:
    app.handler({"ResponseURL": event("Create", storage)["ResponseURL"]}, Context())

    answer = json.loads(storage.seen[-1].body)
    assert (answer["Status"], answer["StackId"]) == ("FAILED", "unknown")


@pytest.mark.parametrize(
    "nonsense", [[], "Create", {}, {"RequestType": "Delete"}, {"ResponseURL": "nowhere"}]
)
def test_event_that_cannot_be_answered_is_logged(
    app: Any, nonsense: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app, "PAUSES", (0,))

    app.handler(nonsense, Context())

    assert "there is nothing to answer" in caplog.text or "was not answered" in caplog.text


@pytest.mark.parametrize(("request_type", "status"), [("Create", "FAILED"), ("Delete", "SUCCESS")])
def test_migration_answers_without_its_layers(storage: Server, request_type: str, status: str) -> None:
    request = event(request_type, storage)
    subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.append({str(FUNCTION)!r}); import app\n"
            "class Context: get_remaining_time_in_millis = staticmethod(lambda: 300_000)\n"
            f"app.handler({request!r}, Context)",
        ],
        check=True,
        capture_output=True,
    )

    assert last_response(storage)["Status"] == status
    assert ("ModuleNotFoundError" in last_response(storage)["Reason"]) == (request_type == "Create")
