"""The seed of a local run: real webhooks, and jobs with every outcome."""

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


def test_seed_jobs_are_accepted_by_enqueue(jobs):
    for job in jobs:
        signature(enqueue).bind(**job)


def test_seed_jobs_deliver_real_webhooks_to_the_receiver(jobs):
    assert {job["kind"] for job in jobs} == {"http"}
    assert all(job["payload"]["url"].startswith(URL + "/") for job in jobs)
    assert all(job["payload"]["body"] for job in jobs)


def test_seed_webhooks_are_delivered_once_and_documented():
    events = {path.name for path in SEED.glob("*.json")} - {"plan.json"}
    readme = (SEED / "README.md").read_text(encoding="utf-8")
    plan = (SEED / "plan.json").read_text(encoding="utf-8")

    assert [plan.count(f'"{name}"') for name in events] == [1] * len(events)
    assert [name for name in events if f"`{name}`" not in readme] == []


def test_seed_is_small():
    assert sum(path.stat().st_size for path in SEED.iterdir()) < 200_000


def test_seed_jobs_have_unique_keys(jobs):
    assert len({job["key"] for job in jobs}) == len(jobs)


def test_seed_jobs_are_due_at_once_or_within_twenty_seconds(jobs):
    delays = [job["delay"] for job in jobs if "delay" in job]

    assert len(jobs) - len(delays) >= 3
    assert len(delays) >= 3
    assert all(timedelta(seconds=2) <= delay <= timedelta(seconds=20) for delay in delays)


def test_seed_has_one_job_that_soon_ends_dead(jobs):
    [dead] = at(jobs, "/broken")

    assert dead["max_attempts"] == 2
    assert [dead["retry"].wait(failures) for failures in (1, 2)] == [timedelta(seconds=1)] * 2


def test_seed_jobs_recover_by_retry_and_retry_after(jobs):
    own = [job for job in at(jobs, "/flaky") if job["payload"]["url"].endswith("after=0")]
    [retried] = [job for job in at(jobs, "/flaky") if job not in own]

    assert len(own) == 2
    assert all(job["retry"].wait(1) == timedelta(seconds=1) for job in own)
    assert retried["retry"].wait(1) > timedelta(seconds=30)
