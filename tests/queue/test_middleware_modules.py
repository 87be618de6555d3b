"""Modules of middleware, and checks of jobs before they are enqueued."""

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from minutehand import (
    ConfigurationError,
    InvalidJobError,
    Job,
    NewJob,
    Rejected,
    enqueue,
    enqueue_many,
    middleware,
)
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerPackage, Handlers
from minutehand.middleware import Next
from minutehand.model.outcome import Finish
from tests.queue.stage import Queue


@pytest.fixture
def steps() -> list[str]:
    return []


def recording(steps: list[str], name: str) -> middleware.Middleware:
    def around(job: Job, call_next: Next) -> Any:
        steps.append(f"{name} begins")
        try:
            return call_next(job)
        finally:
            steps.append(f"{name} ends")

    return around


def work(queue: Queue, handlers: Handlers) -> Finish:
    (ending,) = run_jobs(queue.take(), handlers, lambda: False)
    return ending


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of handlers, next to which a test can write modules."""
    package = tmp_path / "custom_handlers"
    package.mkdir()
    (package / "echo.py").write_text("def handle(payload, job): return [payload, job.context]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.startswith(("custom_handlers", "custom_middleware"))]:
        del sys.modules[name]
    middleware._module.cache_clear()


AROUND = """
def shouting(job, call_next):
    job.payload = job.payload.upper()
    return call_next(job)

middleware = [shouting]

def context(job):
    return "{name}"

def enqueuing(job):
    from dataclasses import replace
    return replace(job, headers={{"by": "{name}"}})
"""


def test_middleware_module_of_the_handlers_is_used(direct_queue: Queue, package: Path) -> None:
    (package / "_middleware.py").write_text(AROUND.format(name="own"))

    job_id = direct_queue.enqueue(payload="hello")
    work(direct_queue, HandlerPackage("custom_handlers"))

    assert direct_queue.row(job_id).result == ["HELLO", "own"]
    assert direct_queue.row(job_id).headers in (None, {})


def test_middleware_setting_names_another_module(
    direct_queue: Queue, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "_middleware.py").write_text(AROUND.format(name="own"))
    (package.parent / "custom_middleware.py").write_text(AROUND.format(name="named"))
    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "custom_middleware")

    job_id = direct_queue.enqueue(payload="hello")
    work(direct_queue, HandlerPackage("custom_handlers"))

    assert direct_queue.row(job_id).result == ["HELLO", "named"]
    assert direct_queue.row(job_id).headers == {"by": "named"}


def test_async_enqueue_middleware_of_a_module_is_refused(
    direct_queue: Queue, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package.parent / "custom_middleware.py").write_text("async def enqueuing(job):\n    return job\n")
    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "custom_middleware")

    with pytest.raises(ConfigurationError, match=r"enqueue middleware must not be async, got .*enqueuing"):
        direct_queue.enqueue()


def test_handlers_without_a_middleware_module_run(direct_queue: Queue, package: Path) -> None:
    job_id = direct_queue.enqueue(payload="hello")
    work(direct_queue, HandlerPackage("custom_handlers"))

    assert direct_queue.row(job_id).result == ["hello", None]


def test_middleware_that_cannot_be_imported_is_an_error(
    direct_queue: Queue, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "_middleware.py").write_text("import nothing_of_that_name\n")
    direct_queue.enqueue()
    ending = work(direct_queue, HandlerPackage("custom_handlers"))
    assert (ending.ending, (ending.error or {})["type"]) == ("retrying", "ModuleNotFoundError")

    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "missing_middleware")
    with pytest.raises(
        ConfigurationError, match=r"MINUTEHAND_MIDDLEWARE must name a module .* got missing_middleware"
    ):
        direct_queue.enqueue()


@pytest.fixture
def add_check() -> Iterator[Callable[[middleware.Check], None]]:
    """Register checks of jobs before they are enqueued, for one test."""
    before = list(middleware._checks)
    yield lambda check: (middleware.before_enqueue(check), None)[1]
    middleware._checks[:] = before


def test_enqueue_check_can_change_the_job(
    direct_queue: Queue, add_check: Callable[[middleware.Check], None]
) -> None:
    add_check(lambda job: dataclasses.replace(job, queue="mail", payload=[job.payload]))
    add_check(lambda job: dataclasses.replace(job, payload=[job.payload]))

    one = direct_queue.enqueue(payload=1)
    (many,) = enqueue_many([NewJob("echo", 2)], connection=direct_queue.database)

    assert not isinstance(many, Rejected)
    rows = [direct_queue.row(one), direct_queue.row(many.id)]
    assert [(row.queue, row.payload) for row in rows] == [("mail", [[1]]), ("mail", [[2]])]


def test_enqueue_check_can_reject_a_single_job(
    direct_queue: Queue, add_check: Callable[[middleware.Check], None]
) -> None:
    checked: list[object] = []

    def no_secrets(job: NewJob) -> NewJob:
        checked.append(job.payload)
        if job.payload == "secret":
            raise InvalidJobError("no_secrets", "send no secrets")
        return job

    add_check(no_secrets)
    with pytest.raises(InvalidJobError, match="send no secrets"):
        enqueue("echo", "secret", connection=direct_queue.database)
    del checked[:]
    items = ["a", "secret", "b", "c"]
    outcomes = list(enqueue_many((NewJob("echo", item) for item in items), connection=direct_queue.database))

    assert [each.outcome for each in outcomes] == ["created", "rejected", "created", "created"]
    # Each item is checked once, even if the chunk is divided.
    assert checked == items
    assert direct_queue.sql("select count(*) from minutehand.jobs")[0]["count"] == 3


def test_enqueue_check_must_return_a_job(
    direct_queue: Queue, add_check: Callable[[middleware.Check], None]
) -> None:
    add_check(lambda job: None)  # type: ignore[arg-type, return-value]

    with pytest.raises(InvalidJobError, match="must return a NewJob, got"):
        direct_queue.enqueue()


def test_middleware_attribute_can_be_one_function() -> None:
    module = ModuleType("one")
    module.middleware = recording([], "alone")  # type: ignore[attr-defined]

    assert middleware.Around.of(module).middleware == (module.middleware,)
