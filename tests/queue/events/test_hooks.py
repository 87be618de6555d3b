"""Hooks receive events, and a failing hook does not fail a job."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from minutehand import ConfigurationError, Job
from minutehand.attempts.in_turn import run_jobs
from minutehand.events import hooks
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from tests.queue.events.stage import fails, names
from tests.queue.stage import Queue

MARK = "mark-4711"
CITY: ContextVar[str] = ContextVar("CITY", default="none")


def test_hook_receives_its_events_until_it_is_removed(queue: Queue) -> None:
    received: list[str] = []

    @hooks.on("dead")
    def hook(event: Event) -> None:
        received.append(event.name)

    queue.attempt(fails)
    queue.attempt(lambda _: None)
    hooks.off(hook)
    queue.attempt(fails)

    assert received == ["dead"]
    assert "dead" not in hooks._hooks


def test_hook_for_an_unknown_event_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match=r"event must be enqueued, .* got 'died'"):
        hooks.on("died", print)  # type: ignore[call-overload]


def test_failing_hook_does_not_fail_jobs_and_is_logged_once(
    queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    @hooks.on("*")
    def broken(event: Event) -> None:
        raise RuntimeError(MARK)

    try:
        endings = [queue.attempt(lambda _: None)[1].ending for _ in range(3)]
    finally:
        hooks.off(broken)

    assert endings == ["done"] * 3
    assert [record.getMessage().partition(" failed")[2] for record in caplog.records] == [
        ", and stays registered: RuntimeError"
    ]
    assert MARK not in caplog.text


def test_hook_sees_at_the_end_what_it_set_at_the_claim(direct_queue: Queue) -> None:
    seen: dict[str | None, str] = {}

    def within_transaction(_payload: object, job: Job) -> None:
        with job.transaction():
            CITY.set("Rome")

    def hook(event: Event) -> None:
        if event.name == "claimed":
            CITY.set("Paris")
        else:
            seen[event.kind] = CITY.get()

    table: dict[str, Callable[..., Any]] = {
        "plain": lambda _: CITY.set("Rome"),
        "fails": fails,
        "transaction": within_transaction,
    }
    for kind in table:
        direct_queue.enqueue(kind)
    run_jobs(direct_queue.take(3), HandlerTable(table), stopping=lambda: False, hook=hook)

    assert seen == dict.fromkeys(table, "Paris")


def test_hook_modules_are_imported_at_the_first_event(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "custom_hooks.py").write_text(
        "from minutehand.events import hooks\nreceived = []\nhooks.on('done', received.append)\n"
    )
    (tmp_path / "broken_hooks.py").write_text("raise RuntimeError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MINUTEHAND_HOOKS", "broken_hooks, custom_hooks")
    assert "custom_hooks" not in sys.modules

    for _ in range(2):
        queue.attempt(lambda _: None)

    module = sys.modules.pop("custom_hooks")
    hooks.off(module.received.append)
    assert names(module.received) == ["done", "done"]
    assert caplog.text.count("MINUTEHAND_HOOKS: broken_hooks cannot be imported") == 1
