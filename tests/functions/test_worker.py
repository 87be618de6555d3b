"""The worker with real events: it claims the offered jobs and logs their outcomes."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from minutehand.model.invitation import EventError
from minutehand.queries.jobs import list_attempts
from tests.functions.fleet import Fleet, event, lines, metrics

MARK = "mark-4711"
ID, ACK = event("worker-offers")["offers"][0]


def test_offers_of_an_event_are_claimed_and_finished(fleet: Fleet) -> None:
    invitation = event("worker-offers")
    fleet.offer(invitation["offers"])

    answer = fleet.work(invitation)
    rows = [fleet.row(job_id) for job_id, _ in invitation["offers"]]

    assert answer == {"done": 2}
    assert [(row.state, row.attempts) for row in rows] == [("done", 1)] * 2
    assert [row.result for row in rows] == [{"job": job_id} for job_id, _ in invitation["offers"]]


def test_event_with_unknown_offers_claims_nothing(fleet: Fleet) -> None:
    fleet.enqueue()

    assert fleet.work(event("worker-offers")) == {}
    (measured,) = metrics(fleet.read_output())
    assert measured == {"claimed": 0, "unclaimed": 2, "taken": 0, "empty": 1}


def test_repeated_offer_in_an_event_is_claimed_once(fleet: Fleet) -> None:
    invitation = event("worker-duplicated")
    fleet.offer(invitation["offers"][:1])

    assert fleet.work(invitation) == {"done": 1}
    assert fleet.row(ID).attempts == 1


def test_event_without_offers_claims_nothing(fleet: Fleet) -> None:
    job = fleet.enqueue()

    assert fleet.work(event("worker-empty")) == {}
    assert fleet.row(job).state == "due"


def test_event_with_a_queue_takes_its_next_due_job(fleet: Fleet) -> None:
    first, second, other = fleet.enqueue(), fleet.enqueue(), fleet.enqueue(queue="other")

    answers = [fleet.work(event("worker-queue")) for _ in range(3)]

    assert answers == [{"done": 1}, {"done": 1}, {}]
    assert [fleet.row(job).state for job in (first, second, other)] == ["done", "done", "due"]


def test_event_with_queues_takes_the_job_that_is_due_the_longest(fleet: Fleet) -> None:
    fleet.enqueue()
    jobs = [fleet.enqueue(queue=queue) for queue in ("b", "a")]

    assert fleet.work({"queue": ["a", "b"]}) == {"done": 1}
    assert [fleet.row(job).state for job in jobs] == ["done", "due"]


@pytest.mark.parametrize(
    "malformed",
    [
        event("worker-malformed"),
        {},
        [],
        None,
        "default",
        {"queue": 5},
        {"queue": None},
        {"queue": []},
        {"queue": ["default", 5]},
        {"queue": "default,mail"},
        {"offers": None, "queue": "default"},
        {"offers": ID, "queue": "default"},
        {"offers": [[ID]], "queue": "default"},
        {"offers": [[ID, ACK, ACK]], "queue": "default"},
        {"offers": [[ID, ACK], [ID, None]], "queue": "default"},
        {"offers": [[1, 2]], "queue": "default"},
        {"offers": {ID: ACK}, "queue": "default"},
        {"offers": [[ID, f"{ACK}'; drop schema minutehand cascade; --"]], "queue": "default"},
    ],
)
def test_malformed_event_is_rejected_before_anything_is_claimed(fleet: Fleet, malformed: Any) -> None:
    fleet.offer([[ID, ACK]])

    with pytest.raises(EventError):
        fleet.work(malformed)
    assert fleet.row(ID).state == "offered"
    assert fleet.row(ID).attempts == 0


def test_lease_ends_shortly_after_the_invocation(fleet: Fleet, handler: Callable[[str], str]) -> None:
    kind = handler(
        "def handle(payload, job):\n"
        "    return [job.remaining.total_seconds(), (job.lease.duration + job.lease.grace).total_seconds()]\n"
    )
    job = fleet.enqueue(kind)

    fleet.work({"queue": "default"}, left=timedelta(minutes=10))
    remaining, claimed = fleet.row(job).result

    assert 580 < remaining < 600
    assert remaining + 1 < claimed < 603


def test_invocation_without_time_left_claims_nothing(fleet: Fleet) -> None:
    fleet.offer([[ID, ACK]])

    assert fleet.work({"queue": "default", "offers": [[ID, ACK]]}, left=timedelta(milliseconds=900)) == {}
    assert fleet.row(ID).state == "offered"


ENDINGS = {
    "done": ("return payload", "INFO"),
    "retrying": ("raise ValueError(payload)", "INFO"),  # logged as retried
    "dead": ("raise minutehand.Fail(payload)", "WARNING"),
    "snoozed": ("raise minutehand.Snooze(timedelta(hours=1))", "INFO"),
    "cancelled": ("raise minutehand.Cancel(payload)", "INFO"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_attempt_logs_two_lines_and_metrics_without_the_payload(
    fleet: Fleet, handler: Callable[[str], str], ending: str
) -> None:
    does, level = ENDINGS[ending]
    kind = handler(f"import minutehand\nfrom datetime import timedelta\ndef handle(payload, job): {does}\n")
    job = fleet.enqueue(kind, MARK, key=f"key-{MARK}", headers={"mark": MARK})

    answer = fleet.work({"queue": "default"})
    output = fleet.read_output()
    claimed, finished = lines(output)

    assert answer == {ending: 1}
    assert metrics(output) == [{ending: 1, "claimed": 1, "unclaimed": 0, "taken": 0, "empty": 0}]
    assert (claimed["message"], claimed["level"]) == ("claimed", "INFO")
    assert (finished["message"], finished["level"]) == (ending.replace("retrying", "retried"), level)
    for line in (claimed, finished):
        facts = {"job": str(job), "kind": kind, "queue": "default", "attempt": 1, "service": "worker"}
        assert {**line, **facts} == line
        assert line["function_request_id"]
    assert MARK not in output


def test_mismatched_payload_is_dead_and_not_quoted(fleet: Fleet, handler: Callable[[str], str]) -> None:
    kind = handler(
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Mail:\n    to: str\n    copies: int\n"
        "def handle(payload: Mail): return payload.to\n"
    )
    fleet.enqueue(kind, {"to": MARK, "copies": MARK})

    assert fleet.work({"queue": "default"}) == {"dead": 1}
    assert MARK not in fleet.read_output()


def test_signature_that_cannot_be_called_fails_the_attempt(
    fleet: Fleet, handler: Callable[[str], str]
) -> None:
    job = fleet.enqueue(handler("def handle(order, customer): ...\n"))

    assert fleet.work({"queue": "default"}) == {"retrying": 1}
    assert (fleet.row(job).error or {})["type"] == "InvalidHandlerError"
    assert "expected handle(payload)" in (fleet.row(job).error or {})["message"]


def test_done_job_without_its_result_is_logged_as_a_warning(
    fleet: Fleet, handler: Callable[[str], str]
) -> None:
    fleet.enqueue(handler("def handle(payload): return object()\n"))

    assert fleet.work({"queue": "default"}) == {"done": 1}
    finished = lines(fleet.read_output())[-1]
    assert (finished["level"], finished["error_type"]) == ("WARNING", "ResultError")


def test_unknown_kind_is_logged_and_released_without_an_attempt(fleet: Fleet) -> None:
    job = fleet.enqueue("billing.invoice", MARK)

    assert fleet.work({"queue": "default"}) == {"released": 1}
    output = fleet.read_output()
    assert lines(output)[-1]["error_type"] == "UnknownKindError"
    assert MARK not in output
    assert fleet.row(job).attempts == 0


def test_handler_is_imported_when_its_kind_is_first_claimed(
    fleet: Fleet, handler: Callable[[str], str]
) -> None:
    mine, other = handler("def handle(payload): return 1\n"), handler("def handle(payload): return 2\n")
    fleet.enqueue(mine)

    before = {name for name in (mine, other) if f"handlers.{name}" in sys.modules}
    fleet.work({"queue": "default"})
    after = {name for name in (mine, other) if f"handlers.{name}" in sys.modules}

    assert before == set()
    assert after == {mine}


@pytest.mark.parametrize(("output", "version"), [(None, "$LATEST"), ("2026-11-21", "2026-11-21")])
def test_attempt_records_its_worker_and_code_version(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, output: str | None, version: str
) -> None:
    if output:
        monkeypatch.setenv("MINUTEHAND_VERSION", output)
    job = fleet.enqueue()
    fleet.work({"queue": "default"})

    (attempt,) = list_attempts(fleet.database, job)
    assert (attempt.worker, attempt.memory_mb, attempt.version) == ("minutehand-worker", 512, version)
    assert attempt.request is not None and attempt.request in fleet.read_output()
    assert fleet.row(job).version == version
