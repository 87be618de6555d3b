"""What needs attention, the history and the caller, over HTTP."""

import shlex
from datetime import UTC, datetime, timedelta

import pytest

from minutehand import Retry, enqueue
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Failed
from minutehand.offer import offer
from minutehand.operations.controls import limit, pause
from minutehand.queries import attention as attention_module
from minutehand.queries.attention import attention, items
from tests.api.stage import claim_one

MINUTE = timedelta(minutes=1)


def what(api):
    return {each["what"]: each for each in api.get("/attention").json()["items"]}


def late(jobs, **options):
    """Enqueue a job that has been due for five minutes."""
    job = enqueue("echo", connection=jobs, **options).id
    with jobs.transaction() as connection:
        connection.execute(
            "update minutehand.jobs_live set visible = visible - interval '5 minutes', run_at = run_at where id = %s",
            [job],
        )
    return job


def ack_of(jobs, job):
    with jobs.transaction() as connection:
        (ack,) = connection.execute("select ack from minutehand.jobs_live where id = %s", [job]).fetchone()
    return ack


def test_idle_queue_needs_no_attention(api):
    assert api.get("/attention").json()["items"] == []


def test_late_jobs_need_attention_with_a_filter_that_lists_them(api, jobs):
    job = late(jobs, queue="mail")
    enqueue("echo", delay=timedelta(hours=1), queue="mail", connection=jobs)
    item = what(api)["late"]

    assert (item["count"], item["severity"], item["next_step"]) == (1, "warning", "minutehand why mail")
    assert "Queue mail has 1 job due, the oldest for 5 min" in item["sentence"]
    assert [each["id"] for each in api.get("/jobs", params=item["filter"]).json()["jobs"]] == [str(job)]


def test_late_jobs_are_counted_up_to_a_limit(api, jobs, monkeypatch):
    monkeypatch.setattr(attention_module, "DUE_LIMIT", 2)
    monkeypatch.setattr(items, "DUE_LIMIT", 2)
    for _ in range(3):
        late(jobs, queue="mail")
    item = what(api)["late"]

    assert (item["count"], item["more"]) == (2, True)
    assert "Queue mail has 2+ jobs due" in item["sentence"]


def test_paused_jobs_are_not_late(api, jobs):
    late(jobs)
    pause(jobs, reason="an upgrade", everything=True)

    assert "late" not in what(api)


def test_dispatcher_that_never_ticked_needs_attention_if_jobs_are_late(api, jobs):
    assert "dispatcher_silent" not in what(api)
    late(jobs)

    assert what(api)["dispatcher_silent"]["sentence"].startswith("The dispatcher has never ticked")


def test_dispatcher_in_mode_sleep_need_not_tick(api, jobs):
    late(jobs)
    jobs.connection.execute(
        "update minutehand.dispatcher set ticked = now() - interval '2 hours', mode = 'sleep'"
    )

    assert "dispatcher_silent" not in what(api)


def test_dead_jobs_need_attention_by_kind(api, dead):
    item = what(api)["failing"]

    assert (item["kind"], item["queue"], item["count"]) == ("echo", "default", 1)
    assert [each["id"] for each in api.get("/jobs", params=item["filter"]).json()["jobs"]] == [str(dead.id)]


def test_jobs_that_wait_for_another_attempt_are_listed(api, jobs):
    enqueue("echo", retry=Retry(jitter=False, min=timedelta(minutes=1)), connection=jobs)
    finish(claim_one(jobs), Failed({"type": "ValueError", "message": "no"}))

    assert what(api)["retrying"]["count"] == 1


def test_pauses_and_full_limits_need_attention(api, jobs, running):
    pause(jobs, queue="mail", reason="the provider is down")
    limit(jobs, 1, queue="default")
    found = what(api)

    assert found["paused"]["sentence"] == "Queue mail is paused: the provider is down."
    assert found["paused"]["next_step"] == "minutehand resume --queue mail"
    assert (found["limited"]["count"], found["limited"]["filter"]["queue"]) == (1, "default")


def test_command_that_ends_a_pause_quotes_its_names(api, jobs):
    pause(jobs, key="$(reboot) 'x'")

    assert shlex.split(what(api)["paused"]["next_step"]) == ["minutehand", "resume", "--key", "$(reboot) 'x'"]
    assert "'$(reboot) " in what(api)["paused"]["next_step"]


def test_lapsed_offers_need_attention(api, jobs):
    with jobs.transaction() as connection:
        connection.execute("insert into minutehand.budgets values ('mail', 5, now())")

    assert "at most 5 of its jobs" in what(api)["throttled"]["sentence"]


def test_lapsed_offers_of_a_few_jobs_need_attention(api, jobs):
    job, now = late(jobs, queue="mail"), datetime.now(UTC)
    offer(jobs, 100, MINUTE, now - 3 * MINUTE)
    lapsed = what(api)["throttled"]
    assert "offers of queue mail; 1 job waits for a worker" in lapsed["sentence"]
    assert [each["id"] for each in api.get("/jobs", params=lapsed["filter"]).json()["jobs"]] == [str(job)]

    offer(jobs, 100, MINUTE, now)
    assert what(api)["throttled"]["count"] == 1
    jobs.run("claim", ids=[job], acks=[ack_of(jobs, job)], lease=MINUTE, grace=MINUTE)
    assert "throttled" not in what(api)


def test_first_offer_needs_no_attention(api, jobs):
    enqueue("echo", connection=jobs)
    offer(jobs, 10, MINUTE)

    assert what(api) == {}


def test_worst_items_come_first(jobs):
    late(jobs, queue="mail")
    pause(jobs, queue="other")
    severities = [each.severity for each in attention(jobs).items]

    assert severities == ["critical", "warning", "info"]


def test_history_counts_jobs_before_and_after_a_tick(api, jobs, dead):
    def total(name):
        return sum(each[name] for each in api.get("/stats/history").json()["bins"])

    assert (total("enqueued"), total("dead")) == (1, 1)
    run_maintenance(jobs)
    assert (total("enqueued"), total("dead")) == (1, 1)


@pytest.mark.parametrize(("window", "step", "bins"), [("1h", 60, 60), ("24h", 900, 96), ("7d", 3600, 168)])
def test_history_has_a_window(api, window, step, bins):
    history = api.get(f"/stats/history?window={window}").json()

    assert (history["step"], len(history["bins"]), history["complete"]) == (step, bins, True)


def test_me_is_the_caller(api):
    me = api.get("/me").json()

    assert (me["actor"], me["tenant"], me["role"]) == (None, "", "operator")


CLAIMED_BEFORE = """
insert into minutehand.jobs_live (queue, kind, claimed, visible)
select 'slow', 'echo', now() - interval '1 hour', now() + interval '1 hour' from generate_series(1, %s)"""


def test_lapsed_offers_behind_many_claims_need_attention(api, jobs):
    with jobs.transaction() as connection:
        connection.execute(CLAIMED_BEFORE, [attention_module.MAX_OFFERED])
    late(jobs, queue="mail")
    offer(jobs, 2000, MINUTE, datetime.now(UTC) - 3 * MINUTE)

    assert "offers of queue mail" in what(api)["throttled"]["sentence"]
