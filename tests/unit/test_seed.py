"""The seed of a local run: real webhooks, and a plan in which everything that can happen happens."""

from datetime import timedelta
from inspect import signature
from pathlib import Path

import pytest

from minutehand import enqueue
from minutehand.local.seed import seed_jobs

ROOT = Path(__file__).parents[2]
SEED = ROOT / "events" / "seed"
URL = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def jobs():
    return seed_jobs(ROOT, URL)


def at(jobs, path):
    return [job for job in jobs if job["payload"]["url"].startswith(URL + path)]


def test_every_job_is_what_enqueue_takes(jobs):
    for job in jobs:
        signature(enqueue).bind(**job)


def test_every_job_delivers_a_real_webhook_to_the_receiver(jobs):
    assert {job["kind"] for job in jobs} == {"http"}
    assert all(job["payload"]["url"].startswith(URL + "/") for job in jobs)
    assert all(job["payload"]["body"] for job in jobs)


def test_every_webhook_is_delivered_once_and_named_in_the_readme():
    events = {path.name for path in SEED.glob("*.json")} - {"plan.json"}
    readme = (SEED / "README.md").read_text(encoding="utf-8")
    plan = (SEED / "plan.json").read_text(encoding="utf-8")

    assert [plan.count(f'"{name}"') for name in events] == [1] * len(events)
    assert [name for name in events if f"`{name}`" not in readme] == []


def test_the_seed_stays_small():
    assert sum(path.stat().st_size for path in SEED.iterdir()) < 200_000


def test_every_job_has_a_key_of_its_own(jobs):
    assert len({job["key"] for job in jobs}) == len(jobs)


def test_some_jobs_are_due_at_once_and_some_within_twenty_seconds(jobs):
    delays = [job["delay"] for job in jobs if "delay" in job]

    assert len(jobs) - len(delays) >= 3
    assert len(delays) >= 3
    assert all(timedelta(seconds=2) <= delay <= timedelta(seconds=20) for delay in delays)


def test_exactly_one_job_ends_dead_and_soon(jobs):
    [dead] = at(jobs, "/broken")

    assert dead["max_attempts"] == 2
    assert [dead["retry"].wait(failures) for failures in (1, 2)] == [timedelta(seconds=1)] * 2


def test_some_seed_jobs_recover_by_retry_and_retry_after(jobs):
    own = [job for job in at(jobs, "/flaky") if job["payload"]["url"].endswith("after=0")]
    [asked] = [job for job in at(jobs, "/flaky") if job not in own]

    assert len(own) == 2
    assert all(job["retry"].wait(1) == timedelta(seconds=1) for job in own)
    assert asked["retry"].wait(1) > timedelta(seconds=30)
