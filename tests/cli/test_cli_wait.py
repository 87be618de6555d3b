"""`minutehand wait` and its exit codes."""

import json
import os
import socket
from uuid import UUID, uuid4

import pytest

from minutehand import Database, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.queries.jobs import list_attempts
from tests.queue.stage import GRACE, LEASE


@pytest.fixture
def database(direct_database):
    database = Database(direct_database.url)
    yield database
    database.close()


def finished(database: Database, outcome=None) -> UUID:
    job_id = enqueue("echo", {"secret": 1}, connection=database).id
    (job,) = take(database, "default", 1, LEASE, GRACE)
    finish(job, outcome or Done('{"secret": 2}'))
    return job_id


DEAD = Failed({"type": "ValueError", "message": "the secret"}, final=True)


def test_wait_prints_done_jobs_without_private_data(invoke, lines, database):
    ids = [str(finished(database)) for _ in range(2)]

    shown, reported = invoke("wait", *ids), invoke("wait", *ids, "-o", "json")

    assert (shown.exit_code, reported.exit_code) == (0, 0)
    assert shown.stdout.splitlines() == [f"{job_id} echo done" for job_id in ids]
    assert [(line["id"], line["state"]) for line in lines(reported)] == [(job_id, "done") for job_id in ids]
    assert "secret" not in shown.output + reported.output


def test_wait_exits_with_1_for_a_dead_or_missing_job(invoke, database):
    done, dead, missing = str(finished(database)), str(finished(database, DEAD)), str(uuid4())

    result = invoke("wait", dead, missing, done)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [f"{dead} echo dead: ValueError", f"{done} echo done"]
    assert result.stderr.startswith("error: ") and missing in result.stderr
    assert "secret" not in result.output


def test_wait_needs_no_key_for_an_encrypted_result(invoke, database):
    envelope = Done('{"minutehand": {"v": 1, "key": "absent", "nonce": "AAAA", "text": "AAAA"}}')
    job_id = str(finished(database, envelope))

    result = invoke("wait", job_id)

    assert (result.exit_code, result.stdout) == (0, f"{job_id} echo done\n")


def test_wait_exits_with_6_after_the_timeout(invoke, database):
    waits = enqueue("echo", connection=database, delay=LEASE).id

    result = invoke("wait", str(waits), "--timeout", "0s")

    assert result.exit_code == 6
    assert "is scheduled" in result.stderr


def test_wait_reads_ids_from_a_pipe(invoke, database):
    done = finished(database)

    result = invoke("wait", "-", "-o", "ids", stdin=f"{done}\nnonsense\n")

    assert (result.exit_code, result.stdout) == (1, f"{done}\n")
    assert "nonsense" in result.stderr


def test_wait_for_an_empty_pipe_fails(invoke):
    result = invoke("wait", "-", stdin="\n")

    assert (result.exit_code, result.stderr) == (1, "error: no job ids were given on stdin\n")


def test_partial_result_is_shown_only_with_payload(invoke, database):
    failed = Failed({"type": "Fail", "message": "no"}, final=True, result='{"secret": 3}')
    job = str(finished(database, failed))

    masked, unmasked = invoke("show", job, "-o", "json"), invoke("show", job, "--payload", "-o", "json")

    assert "secret" not in masked.stdout
    assert json.loads(unmasked.stdout)["history"][0]["result"] == {"secret": 3}


def test_wait_sees_the_worker_of_another_process(popen, run, database, direct_database):
    job = enqueue("echo", {"n": 1}, connection=database).id
    waiting = popen("wait", str(job), "--timeout", "180s", url=direct_database.url)
    run("work", "--drain", url=direct_database.url)

    assert waiting.wait(180) == 0
    (attempt,) = list_attempts(database, job)
    host, _, process = (attempt.worker or "").rpartition(":")
    assert host == socket.gethostname()
    assert process.isdigit()
    assert process != str(os.getpid())
