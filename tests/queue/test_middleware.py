"""Middleware goes around every handler and looks at every job that is enqueued; a context lasts one attempt."""

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
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
    Snooze,
    enqueue,
    enqueue_many,
    middleware,
)
from minutehand.handlers import HandlerPackage, Handlers, HandlerTable
from minutehand.middleware import Next
from minutehand.model.outcome import Finish
from minutehand.work import run_jobs
from tests.queue.stage import Queue

SECOND = timedelta(seconds=1)


@pytest.fixture
def steps() -> list[str]:
    return []


def saying(steps: list[str], name: str) -> middleware.Middleware:
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


def table(handler: Callable[..., Any], *around: middleware.Middleware, context: Any = None) -> HandlerTable:
    return HandlerTable({"echo": handler}, around, context)


def test_first_middleware_is_the_outermost(direct_queue: Queue, steps: list[str]) -> None:
    job_id = direct_queue.enqueue()

    work(
        direct_queue, table(lambda _: steps.append("handler"), saying(steps, "outer"), saying(steps, "inner"))
    )

    assert steps == ["outer begins", "inner begins", "handler", "inner ends", "outer ends"]
    assert direct_queue.row(job_id).state == "done"


def test_middleware_can_change_the_payload_and_the_result(direct_queue: Queue) -> None:
    def doubled(job: Job, call_next: Next) -> Any:
        job.payload = job.payload * 2
        return [call_next(job)]

    job_id = direct_queue.enqueue(payload=21)
    work(direct_queue, table(lambda payload: payload, doubled))

    assert direct_queue.row(job_id).result == [42]


def test_middleware_can_end_the_attempt_without_the_handler(direct_queue: Queue, steps: list[str]) -> None:
    def closed(job: Job, call_next: Next) -> Any:
        if job.payload == "closed":
            raise Snooze(SECOND)
        return "not asked"

    handlers = table(lambda _: steps.append("handler"), closed)
    snoozed, answered = direct_queue.enqueue(payload="closed"), direct_queue.enqueue(payload="open")
    endings = [work(direct_queue, handlers).ending for _ in range(2)]

    assert endings == ["snoozed", "done"]
    assert (direct_queue.row(snoozed).attempts, direct_queue.row(answered).result) == (0, "not asked")
    assert steps == []


def test_middleware_sees_a_payload_mismatch(direct_queue: Queue, steps: list[str]) -> None:
    @dataclasses.dataclass
    class Letter:
        to: str

    def handle(letter: Letter) -> None:
        raise AssertionError("called")

    def noting(job: Job, call_next: Next) -> Any:
        try:
            return call_next(job)
        except Exception as error:
            steps.append(type(error).__name__)
            raise

    direct_queue.enqueue(payload={"to": 5})
    assert work(direct_queue, table(handle, noting)).ending == "dead"
    assert steps == ["MismatchError"]


def test_each_attempt_has_its_own_context_which_is_closed(direct_queue: Queue, steps: list[str]) -> None:
    held: list[Any] = []  # so that none is closed just by being forgotten

    @contextmanager
    def opened(job: Job) -> Iterator[str]:
        steps.append(f"open {job.attempt}")
        try:
            yield f"session {job.attempt}"
        finally:
            steps.append(f"close {job.attempt}")

    def context(job: Job) -> Any:
        held.append(opened(job))
        return held[-1]

    def handle(_: Any, job: Job) -> None:
        steps.append(job.context)
        if job.attempt == 1:
            raise ValueError

    job_id = direct_queue.enqueue()
    handlers = table(handle, saying(steps, "middleware"), context=context)
    for _ in range(2):
        work(direct_queue, handlers)
        direct_queue.pass_time(job_id)

    around = [["open 1", "session 1", "close 1"], ["open 2", "session 2", "close 2"]]
    assert steps == [
        step
        for opened, session, closed in around
        for step in (opened, "middleware begins", session, "middleware ends", closed)
    ]


def test_context_without_enter_is_passed_unchanged(direct_queue: Queue) -> None:
    made: list[Any] = []
    direct_queue.enqueue()
    work(direct_queue, table(lambda _, job: made.append(job.context), context=lambda job: {"job": job.id}))

    assert [list(each) for each in made] == [["job"]]


def test_failing_context_fails_the_attempt(direct_queue: Queue) -> None:
    def context(_: Job) -> Any:
        raise ConnectionError("the CRM is away")

    job_id = direct_queue.enqueue()
    assert work(direct_queue, table(lambda _: None, context=context)).ending == "retrying"
    assert (direct_queue.row(job_id).error or {})["type"] == "ConnectionError"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of handlers of its own, and modules beside it."""
    package = tmp_path / "handlers_of_mine"
    package.mkdir()
    (package / "echo.py").write_text("def handle(payload, job): return [payload, job.context]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.startswith(("handlers_of_mine", "around_of_mine"))]:
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
    work(direct_queue, HandlerPackage("handlers_of_mine"))

    assert direct_queue.row(job_id).result == ["HELLO", "own"]
    assert direct_queue.row(job_id).headers in (None, {})


def test_middleware_setting_names_another_module(
    direct_queue: Queue, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "_middleware.py").write_text(AROUND.format(name="own"))
    (package.parent / "around_of_mine.py").write_text(AROUND.format(name="named"))
    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "around_of_mine")

    job_id = direct_queue.enqueue(payload="hello")
    work(direct_queue, HandlerPackage("handlers_of_mine"))

    assert direct_queue.row(job_id).result == ["HELLO", "named"]
    assert direct_queue.row(job_id).headers == {"by": "named"}


def test_handlers_without_a_middleware_module_run(direct_queue: Queue, package: Path) -> None:
    job_id = direct_queue.enqueue(payload="hello")
    work(direct_queue, HandlerPackage("handlers_of_mine"))

    assert direct_queue.row(job_id).result == ["hello", None]


def test_middleware_that_cannot_be_imported_is_an_error(
    direct_queue: Queue, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "_middleware.py").write_text("import nothing_of_that_name\n")
    direct_queue.enqueue()
    ending = work(direct_queue, HandlerPackage("handlers_of_mine"))
    assert (ending.ending, (ending.error or {})["type"]) == ("retrying", "ModuleNotFoundError")

    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "around_of_nobody")
    with pytest.raises(
        ConfigurationError, match=r"MINUTEHAND_MIDDLEWARE must name a module .* got around_of_nobody"
    ):
        direct_queue.enqueue()


@pytest.fixture
def looking() -> Iterator[Callable[[middleware.Check], None]]:
    """Register what looks at jobs before they are enqueued, for one test."""
    before = list(middleware._checks)
    yield lambda check: (middleware.before_enqueue(check), None)[1]
    middleware._checks[:] = before


def test_enqueue_check_can_change_the_job(
    direct_queue: Queue, looking: Callable[[middleware.Check], None]
) -> None:
    looking(lambda job: dataclasses.replace(job, queue="mail", payload=[job.payload]))
    looking(lambda job: dataclasses.replace(job, payload=[job.payload]))

    one = direct_queue.enqueue(payload=1)
    (many,) = enqueue_many([NewJob("echo", 2)], connection=direct_queue.database)

    assert not isinstance(many, Rejected)
    rows = [direct_queue.row(one), direct_queue.row(many.id)]
    assert [(row.queue, row.payload) for row in rows] == [("mail", [[1]]), ("mail", [[2]])]


def test_enqueue_check_can_reject_a_single_job(
    direct_queue: Queue, looking: Callable[[middleware.Check], None]
) -> None:
    asked: list[object] = []

    def no_secrets(job: NewJob) -> NewJob:
        asked.append(job.payload)
        if job.payload == "secret":
            raise InvalidJobError("no_secrets", "send no secrets")
        return job

    looking(no_secrets)
    with pytest.raises(InvalidJobError, match="send no secrets"):
        enqueue("echo", "secret", connection=direct_queue.database)
    del asked[:]
    items = ["a", "secret", "b", "c"]
    became = list(enqueue_many((NewJob("echo", item) for item in items), connection=direct_queue.database))

    assert [each.outcome for each in became] == ["created", "rejected", "created", "created"]
    assert asked == items  # each was looked at once, however the chunk was halved
    assert direct_queue.sql("select count(*) from minutehand.jobs")[0]["count"] == 3


def test_enqueue_check_must_return_a_job(
    direct_queue: Queue, looking: Callable[[middleware.Check], None]
) -> None:
    looking(lambda job: None)  # type: ignore[arg-type, return-value]

    with pytest.raises(InvalidJobError, match="must return a NewJob, got"):
        direct_queue.enqueue()


def test_middleware_attribute_can_be_one_function() -> None:
    module = ModuleType("one")
    module.middleware = saying([], "alone")  # type: ignore[attr-defined]

    assert middleware.Around.of(module).middleware == (module.middleware,)
