"""A job that no handler could run is rejected where the handlers are known, and logged elsewhere."""

import logging
from typing import Any

import pytest

from minutehand import (
    InvalidJobError,
    NewJob,
    PayloadError,
    UndeclaredKindError,
    enqueue,
    enqueue_many,
    job,
)
from minutehand.kinds import check as checks
from tests.kinds.conftest import Write
from tests.kinds.test_index import JOBS
from tests.queue.stage import Queue


@pytest.fixture(autouse=True)
def _no_results_of_other_tests() -> None:
    for cached in (checks._are_installed, checks._has_handler, checks._known, checks._import, checks._warn):
        cached.cache_clear()


@pytest.fixture
def shop(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of a team whose handlers are all known."""
    write(
        jobs=JOBS,
        broken="from minutehand import job\n1 / 0\n@job\ndef fails(): ...",
        **{"files.__init__": "", "files.invoice.send": "def handle(payload): ..."},
    )
    monkeypatch.setenv("MINUTEHAND_HANDLERS", "shop.jobs,shop.files,shop.broken")
    monkeypatch.setenv("MINUTEHAND_OTHER_KINDS", "billing.*")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "new",
    [
        NewJob("welcome", {"email": "a"}),
        NewJob("welcome", {"of_the_key": 1}, key="a", on_conflict="merge"),
        NewJob("mail.remind"),
        NewJob("invoice.send", 1),
        NewJob("billing.charge"),
        NewJob("echo"),
        NewJob("app.route", headers={"minutehand-route": "https://app.example.com/queue"}),
        NewJob("fails", {"its": "module"}),
    ],
)
def test_job_with_a_handler_is_accepted(new: NewJob) -> None:
    checks.check(new)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("kind", "closest"),
    [("welcom", "welcome"), ("remind", "mail.remind"), ("invoice", "invoice.send"), ("xyz", None)],
)
def test_unknown_kind_is_rejected_with_the_closest_one(kind: str, closest: str | None) -> None:
    with pytest.raises(UndeclaredKindError) as refused:
        checks.check(NewJob("echo", on_dead=kind))

    assert (refused.value.kind, refused.value.closest) == (kind, closest)
    hint = (
        f"did you mean {closest!r}?" if closest else "declare it there with @job, or add its module to MINUTE"
    )
    assert f"kind {kind!r} has no handler in shop.jobs, shop.files, shop.broken; {hint}" in str(refused.value)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("kind", "shown"), [("a b", "'a b'"), ("ech\udcff", r"'ech\\udcff'"), (5, "int"), (["a"], "list")]
)
def test_kind_that_is_no_name_is_refused_by_its_own_rule(kind: Any, shown: str) -> None:
    with pytest.raises(InvalidJobError, match=rf"kind must be 1 to 100 letters, .*, got {shown}$"):
        checks.check(NewJob("echo", on_dead=NewJob(kind)))


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"emial": "a"}, "got an unexpected argument 'emial'; did you mean 'email'?"),
        ({}, "missing required field `email`; expected (email: str)"),
        ({"email": 1}, "Expected `str`, got `int` - at `$.email`"),
        ([], "Expected `object`, got `array`"),
    ],
)
def test_payload_that_does_not_fit_is_rejected(payload: object, message: str) -> None:
    with pytest.raises(PayloadError) as refused:
        checks.check(NewJob("welcome", payload))

    assert message in str(refused.value)


@pytest.mark.usefixtures("shop")
def test_kind_is_accepted_where_a_module_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_HANDLERS", "shop.jobs,shop.elsewhere")

    checks.check(NewJob("xyz"))


@pytest.mark.usefixtures("shop")
def test_enqueue_and_bulk_check_their_jobs(direct_queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="welcom"):
        enqueue("welcom", connection=direct_queue.database)
    results = list(enqueue_many([NewJob("echo"), NewJob("welcom")], connection=direct_queue.database))

    assert [each.outcome for each in results] == ["created", "rejected"]
    parts = [NewJob("welcome", {"of_the_key": 1}, key="a")]
    (merged,) = enqueue_many(parts, on_conflict="merge", connection=direct_queue.database)
    assert merged.outcome == "created"


@pytest.mark.usefixtures("shop")
def test_callback_is_checked_without_its_payload() -> None:
    # The end of the batch adds a field to it.
    checks.check_callback(NewJob("welcome", {"team": 1}))
    with pytest.raises(UndeclaredKindError):
        checks.check_callback("welcom")


def test_unknown_kind_is_logged_once_without_the_modules(caplog: pytest.LogCaptureFixture) -> None:
    checks.check(NewJob("welcom"))

    @job
    def welcome(email: str) -> None: ...

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            checks.check(NewJob("welcom"))

    (logged,) = caplog.messages
    assert "kind 'welcom' is not declared in this process; did you mean 'welcome'?" in logged
    with pytest.raises(PayloadError):
        checks.check(NewJob("welcome"))
