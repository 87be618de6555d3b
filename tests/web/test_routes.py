"""Routes: their jobs are enqueued, delivered by a real worker, and handled by a real application."""

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import ConfigurationError, NewJob
from minutehand.web.delivered_job import DeliveredJob
from minutehand.web.routes import Route
from tests.retries import IN_AN_HOUR
from tests.web.conftest import App


def test_route_enqueues_and_handles_a_job(app: App) -> None:
    @app.route.handles("welcome")
    def welcome(payload: Any) -> Any:
        return {"sent": payload["to"]}

    row = app.worked("welcome", {"to": "ada@example.com"}, key=("customer", 1))

    assert (row.state, row.kind, row.queue, row.key) == ("done", "welcome", "emails", "customer/1")
    assert row.result == {"sent": "ada@example.com"}


def test_handler_may_be_async(app: App) -> None:
    @app.route.handles("welcome")
    async def welcome(payload: Any, job: DeliveredJob) -> Any:
        await asyncio.sleep(0)
        return [payload, job.kind]

    assert app.worked("welcome", 1.5).result == [1.5, "welcome"]


def test_coroutine_that_is_never_awaited_fails_the_delivery(either: App) -> None:
    async def send() -> None: ...

    async def welcome(_payload: Any) -> None:
        send()  # type: ignore[unused-coroutine]

    either.route.handles("welcome")(welcome)
    row = either.worked("welcome", max_attempts=1)

    assert row.state == "dead"
    assert "was never awaited, so its work was not done" in (row.error or {})["message"]


def test_handler_gets_its_job_and_a_typed_payload(either: App) -> None:
    @dataclass
    class Letter:
        to: str

    seen: list[tuple[Letter, DeliveredJob]] = []
    either.route.handles("welcome")(lambda payload, job: seen.append((payload, job)))
    welcome = either.route.find("welcome").function
    welcome.__annotations__["payload"] = Letter
    either.route.handles("welcome")(welcome)

    run_at = datetime(2026, 1, 31, 8, tzinfo=UTC)
    row = either.worked(
        "welcome",
        {"to": "ada"},
        key="k",
        headers={"trace": "t"},
        max_attempts=1,
        run_at=run_at,
        tenant="acme",
    )

    [(payload, job)] = seen
    assert payload == Letter("ada")
    assert (job.id, job.kind, job.queue, job.key, job.tenant) == (row.id, "welcome", "emails", "k", "acme")
    assert (job.attempt, job.max_attempts, job.last, job.redelivered) == (1, 1, True, False)
    assert (job.headers, job.verified) == ({"trace": "t"}, True)
    assert (job.enqueued, job.run_at) == (row.enqueued, row.run_at)
    assert job.idempotency_key.startswith(str(row.id))
    assert timedelta(0) < job.remaining <= timedelta(minutes=5)


def test_url_may_be_a_path_or_a_function_of_the_job(either: App, setting: pytest.MonkeyPatch) -> None:
    url, either.route.url = either.url, "/queues/emails"
    with pytest.raises(ConfigurationError, match="MINUTEHAND_BASE_URL is not set"):
        either.enqueue()
    setting.setenv("MINUTEHAND_BASE_URL", either.origin)
    assert (either.row(either.enqueue()).headers or {})["minutehand-route"] == url

    either.route.url = lambda job: f"{either.origin}/queues/{job.kind}"
    assert (either.row(either.enqueue("letters")).headers or {})["minutehand-route"].endswith(
        "/queues/letters"
    )


def test_options_of_a_job_override_those_of_its_route(either: App) -> None:
    route = Route("emails", either.url, max_attempts=3, headers={"team": "crm"})

    one = route.enqueue("welcome", connection=either.database).id
    two = route.enqueue("welcome", max_attempts=5, headers={"a": "b"}, connection=either.database).id

    assert (either.row(one).max_attempts, either.row(two).max_attempts) == (3, 5)
    assert set(either.row(one).headers or {}) == {"team", "minutehand-route"}
    assert set(either.row(two).headers or {}) == {"a", "minutehand-route"}


def test_jobs_are_enqueued_together_and_cancelled_by_key(either: App) -> None:
    seen: list[Any] = []
    either.route.handles("welcome")(seen.append)
    jobs = [NewJob("welcome", n, key=str(n)) for n in range(3)]

    became = list(either.route.enqueue_many(jobs, connection=either.database))
    change = either.route.cancel("1", connection=either.database)
    either.work()

    assert [each.outcome for each in became] == ["created"] * 3
    assert change.outcome == "changed"
    assert sorted(seen) == [0, 2]


def test_allowed_redirect_to_another_host_is_unsigned(either: App, setting: pytest.MonkeyPatch) -> None:
    from tests.functions.conftest import Server

    either.route.handles("welcome")(lambda payload: payload)
    with Server(f"307 Temporary Redirect\nlocation: {either.url}") as elsewhere:
        # The redirect goes to the same address; another one would not get the signature.
        either.route.url = f"http://{elsewhere.authority}/old"
        assert either.worked("welcome", 1, retry=IN_AN_HOUR).state == "retrying"
        setting.setenv("MINUTEHAND_HTTP_REDIRECTS", "1")
        row = either.worked("welcome", 1, retry=IN_AN_HOUR)
    assert row.error
    assert "answered 401" in row.error["message"]


def test_receiver_imports_no_framework() -> None:
    import subprocess
    import sys

    code = (
        "import sys, minutehand.web.asgi, minutehand.web.wsgi\n"
        "print(*{'fastapi', 'starlette', 'flask', 'werkzeug', 'uvicorn', 'urllib3', 'cryptography'} & set(sys.modules))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )

    assert completed.stdout.strip() == ""
