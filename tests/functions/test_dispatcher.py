"""The dispatcher with real events: it offers each due job to one worker."""

import json
import random
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand.database import default_database
from minutehand.errors import SchemaError, WakeupError
from tests.functions.fleet import WORKER, Fleet, event, lines, metrics
from tests.retries import IN_AN_HOUR

DUE = 12
MARK = "mark-4711"


@pytest.mark.parametrize("name", ["scheduler-tick", "eventbridge-rule"])
def test_tick_invokes_one_worker_for_each_due_job(fleet: Fleet, name: str) -> None:
    jobs = [fleet.enqueue(payload=number) for number in range(DUE)]
    fleet.enqueue(delay=timedelta(hours=1))

    facts = fleet.tick(event(name))
    answers = [fleet.work(invitation) for invitation in fleet.aws.events]

    assert (facts["due"], facts["offered"], facts["invoked"], facts["refused"]) == (DUE, DUE, DUE, 0)
    assert [len(invitation["offers"]) for invitation in fleet.aws.events] == [1] * DUE
    assert answers == [{"done": 1}] * DUE
    assert [(fleet.row(job).state, fleet.row(job).attempts) for job in jobs] == [("done", 1)] * DUE


def test_chunk_sets_the_number_of_jobs_per_invocation(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_CHUNK", "5")
    for _ in range(DUE):
        fleet.enqueue()

    fleet.tick()

    assert sorted(len(invitation["offers"]) for invitation in fleet.aws.events) == [2, 5, 5]
    assert sorted(fleet.work(invitation)["done"] for invitation in fleet.aws.events) == [2, 5, 5]


def test_offers_do_not_exceed_the_capacity(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_CAPACITY", "4")
    for _ in range(DUE):
        fleet.enqueue()

    assert [fleet.tick()["offered"], fleet.tick()["offered"]] == [4, 0]
    assert len(fleet.aws.events) == 4


def test_repeated_tick_makes_no_second_offer(fleet: Fleet) -> None:
    for _ in range(DUE):
        fleet.enqueue()

    facts = [fleet.tick(event("scheduler-tick")), fleet.tick(event("scheduler-tick"))]

    assert [fact["invoked"] for fact in facts] == [DUE, 0]
    assert len({str(invitation["offers"]) for invitation in fleet.aws.events}) == DUE


def test_duplicate_and_reordered_events_claim_each_job_once(fleet: Fleet) -> None:
    payloads = [{"fail": "this time"} if number % 2 else None for number in range(DUE)]
    jobs = [fleet.enqueue(payload=payload, retry=IN_AN_HOUR) for payload in payloads]
    fleet.tick()
    delivered = fleet.aws.events * 2
    random.Random(4711).shuffle(delivered)

    answers = Counter(str(fleet.work(invitation)) for invitation in delivered)

    assert answers == {"{'done': 1}": DUE // 2, "{'retrying': 1}": DUE // 2, "{}": DUE}
    assert [fleet.row(job).attempts for job in jobs] == [1] * DUE


def test_event_of_an_earlier_offer_claims_nothing(fleet: Fleet) -> None:
    job = fleet.enqueue()
    fleet.tick()
    fleet.lapse()
    fleet.tick()
    late, current = fleet.aws.events

    assert fleet.work(late) == {}
    assert fleet.row(job).state == "offered"
    assert fleet.row(job).attempts == 0
    assert fleet.work(current) == {"done": 1}
    assert fleet.row(job).attempts == 1


def test_refused_invocation_is_logged_and_its_job_is_due_again(fleet: Fleet) -> None:
    job = fleet.enqueue()
    fleet.aws.known.clear()

    facts = fleet.tick()
    (refusal,) = [line for line in lines(fleet.read_output()) if line["level"] == "ERROR"]

    assert (facts["offered"], facts["invoked"], facts["refused"]) == (1, 0, 1)
    assert "ResourceNotFound" in refusal["reason"]
    assert refusal["worker"] == WORKER
    assert fleet.row(job).state == "due"
    assert fleet.row(job).attempts == 0


def test_job_goes_to_the_worker_of_its_kind_or_queue(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = {"kind:invoice.*": "invoices", "queue:reports": "reports"}
    monkeypatch.setenv("MINUTEHAND_WORKERS", json.dumps(routes))
    monkeypatch.setenv("MINUTEHAND_CHUNK", "10")
    fleet.aws.known.update(routes.values())
    made = {
        "reports": [fleet.enqueue("report", queue="reports"), fleet.enqueue("report", queue="reports")],
        "invoices": [fleet.enqueue("invoice.send", queue="reports")],
        WORKER: [fleet.enqueue("invoices"), fleet.enqueue("report")],
    }

    facts = fleet.tick()

    assert facts["invoked"] == 3
    for worker, invitation in zip(fleet.aws.invoked, fleet.aws.events, strict=True):
        assert {UUID(job) for job, _ in invitation["offers"]} == set(made.pop(worker))
    assert made == {}


def test_check_tests_the_connections_without_a_tick(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_WORKERS", '{"queue:reports": "reports"}')
    job = fleet.enqueue()

    answer: dict[str, Any] = fleet.tick({"check": True})

    assert answer["database"]["ok"]
    assert answer["workers"][WORKER]["ok"]
    assert not answer["workers"]["reports"]["ok"]
    assert "ResourceNotFound" in answer["workers"]["reports"]["error"]
    assert fleet.row(job).state == "due"
    assert fleet.aws.events == []


def test_lapsed_offers_are_logged_and_reduce_the_next_offer(fleet: Fleet) -> None:
    for _ in range(DUE):
        fleet.enqueue()
    fleet.tick()
    fleet.sql(
        """update minutehand.jobs_live
              set run_at = run_at, visible = (select ticked from minutehand.dispatcher) + interval '1 ms'"""
    )
    fleet.read_output()

    facts = fleet.tick()

    assert (facts["lapsed"], facts["throttled"]) == (DUE, 1)
    (line,) = [line for line in lines(fleet.read_output()) if line["level"] == "WARNING"]
    assert (line["message"], line["queue"], line["lapsed"], line["budget"]) == (
        "offers lapsed",
        "default",
        DUE,
        50 - DUE,
    )


def test_event_without_a_time_runs_a_tick(fleet: Fleet) -> None:
    fleet.enqueue()

    facts = fleet.tick({})

    assert facts["invoked"] == 1
    assert "lag_ms" not in facts


def test_tick_logs_one_line_and_metrics_without_payloads(
    fleet: Fleet,
) -> None:
    fleet.enqueue(payload={"secret": MARK}, key=f"key-{MARK}", headers={"mark": MARK})

    facts = fleet.tick(event("scheduler-tick"))
    output = fleet.read_output()
    (line,), (measured,) = lines(output), metrics(output)

    assert measured == facts
    assert facts["lag_ms"] > 0
    assert {**line, **facts} == line
    assert (line["message"], line["level"], line["service"]) == ("tick", "INFO", "dispatcher")
    assert line["function_request_id"]
    assert MARK not in output + str(fleet.aws.events)


def test_job_lost_at_its_last_attempt_is_logged_as_dead(fleet: Fleet) -> None:
    job = fleet.enqueue(payload=MARK, max_attempts=1)
    fleet.sql("update minutehand.jobs_live set attempts = 1, claimed = now(), ack = gen_random_uuid()")

    facts = fleet.tick()
    output = fleet.read_output()
    (line,) = [line for line in lines(output) if line["message"] == "dead"]

    assert facts["dead"] == 1
    assert fleet.row(job).state == "dead"
    assert (line["job"], line["kind"], line["attempt"], line["level"]) == (str(job), "echo", 1, "WARNING")
    assert MARK not in output


def test_invocation_that_fails_is_recorded(fleet: Fleet) -> None:
    fleet.tick()
    fleet.sql("alter table minutehand.dispatcher rename column ticked to renamed")

    with pytest.raises(SchemaError):
        fleet.tick()
    (row,) = fleet.sql("select invocations, cold from minutehand.dispatcher_usage")
    assert row == {"invocations": 2, "cold": 1}


def test_check_in_mode_sleep_leaves_no_connection_open(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_MODE", "sleep")

    assert fleet.tick({"check": True})["database"]["ok"]
    assert default_database()._connection is None


def test_tick_that_creates_no_wakeup_fails_and_is_repeated(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.enqueue(delay=timedelta(hours=1))
    for name, value in {
        "MINUTEHAND_MODE": "sleep",
        "MINUTEHAND_WAKEUP_GROUP": "shop",
        "MINUTEHAND_WAKEUP_TARGET": "arn:aws:lambda:eu-central-1:123456789012:function:shop-dispatcher",
        "MINUTEHAND_WAKEUP_ROLE": "arn:aws:iam::123456789012:role/shop-schedule",
        "AWS_ENDPOINT_URL_SCHEDULER": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(WakeupError, match="Lambda repeats this tick"):
        fleet.tick()
