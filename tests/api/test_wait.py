"""Requests that wait until a job is finished."""

from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

from minutehand import Database, Job, enqueue
from tests.api.stage import finish
from tests.servers import Database as Server


def test_wait_returns_when_the_job_is_finished(api: Any, running: Job, database: Server) -> None:
    def work() -> None:
        running.lease.database = Database(database.url)
        finish(running, result={"sent": 3})
        running.database.close()

    worker = Thread(target=work)
    worker.start()
    answer = api.get(f"/jobs/{running.id}?wait=20&include=payload")
    worker.join()

    assert (answer.status_code, answer.json()["state"], answer.json()["result"]) == (200, "done", {"sent": 3})


def test_wait_returns_an_unfinished_job_after_its_limit(api: Any, running: Job) -> None:
    answer = api.get(f"/jobs/{running.id}?wait=1")

    assert (answer.status_code, answer.json()["state"]) == (200, "running")


def test_wait_does_not_wait_for_an_unknown_job(api: Any) -> None:
    assert api.get(f"/jobs/{uuid4()}?wait=20").status_code == 404


@pytest.mark.parametrize("wait", ["-1", "21", "soon"])
def test_wait_is_limited(api: Any, jobs: Database, wait: str) -> None:
    job = enqueue("echo", connection=jobs)

    assert api.get(f"/jobs/{job.id}?wait={wait}").status_code == 422


def test_partial_result_is_masked_by_default(api: Any, running: Job) -> None:
    finish(running, result={"secret": 3}, error={"type": "Fail", "message": "no"})

    masked = api.get(f"/jobs/{running.id}/attempts")
    unmasked = api.get(f"/jobs/{running.id}/attempts?include=payload")

    assert "secret" not in masked.text
    assert [each["result"] for each in unmasked.json()["attempts"]] == [{"secret": 3}]
