"""Encryption keys: missing, invalid, rotated and required."""

import subprocess
import sys
from datetime import timedelta

import pytest

from minutehand import ConfigurationError, Job, NewJob, RetryAfter
from minutehand.encryption.reencrypt import FIRST, reencrypt
from minutehand.errors import DecryptionError, KeyMissingError
from minutehand.operations.jobs import replay
from minutehand.queries.jobs import get
from minutehand.queries.wait import wait
from minutehand.schedules import Schedule, run_now, save
from tests.queue.secrets.stage import KEY, attempt_outcome, handled_payloads, stored
from tests.queue.stage import Queue

OTHER = bytes(range(32, 64)).hex()

PREVIOUS = "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"

SECRET = "4929-1234"


def url_of(queue: Queue) -> str:
    return queue._url


def test_replay_without_the_key_creates_no_job(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    job_id = direct_queue.enqueue(payload=SECRET)
    handled_payloads(direct_queue)
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    with pytest.raises(KeyMissingError):
        replay(direct_queue.database, [job_id])
    assert direct_queue.sql("select count(*) as jobs from minutehand.jobs_live") == [{"jobs": 0}]


def test_worker_without_the_key_releases_the_job(queue: Queue, key: pytest.MonkeyPatch) -> None:
    job_id = queue.enqueue(payload=SECRET, max_attempts=1)
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    assert attempt_outcome(queue) == ("released", "KeyMissingError")

    row = queue.row(job_id)
    assert row.attempts == 0
    assert "MINUTEHAND_ENCRYPTION_KEY" in (row.error or {})["message"]
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    queue.sql("update minutehand.jobs_live set run_at = run_at, visible = now()")
    assert handled_payloads(queue) == [SECRET]


def test_invalid_key_is_rejected_and_not_quoted(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    for wrong in ("short", "not base64 at all!", "é" * 64, "ab" * 31):
        key.setenv("MINUTEHAND_ENCRYPTION_KEY", wrong)
        with pytest.raises(ConfigurationError) as refused:
            direct_queue.enqueue(payload=SECRET)
        assert wrong not in str(refused.value)
    assert direct_queue.sql("select count(*) as jobs from minutehand.jobs_live") == [{"jobs": 0}]


def test_previous_keys_decrypt_and_only_the_current_key_encrypts(
    direct_queue: Queue, key: pytest.MonkeyPatch
) -> None:
    old = direct_queue.enqueue(payload="old")
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)
    key.setenv(PREVIOUS, f"{bytes(32).hex()}, {KEY}")
    new = direct_queue.enqueue(payload="new")

    names = [direct_queue.row(job_id).payload["minutehand"]["key"] for job_id in (old, new)]
    assert names[0] != names[1]
    assert sorted(handled_payloads(direct_queue, 2)) == ["new", "old"]


@pytest.mark.parametrize("key_is_missing", [False, True])
def test_reencrypted_payloads_do_not_need_the_old_key(
    queue: Queue, key: pytest.MonkeyPatch, key_is_missing: bool
) -> None:
    ids = [queue.enqueue(payload=n, **({"key": str(n)} if n % 2 else {})) for n in range(4)]
    plain = queue.sql("select id from minutehand.enqueue('echo', '{\"a\\u0000b\": 4}')")[0]["id"]
    save(queue.database, Schedule("nightly", "@daily", NewJob("echo", SECRET)))
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)
    if not key_is_missing:
        key.setenv(PREVIOUS, KEY)
        assert list(reencrypt(queue.database, actor="ada")) == [4, 1]
        key.delenv(PREVIOUS)
        assert list(reencrypt(queue.database)) == []
    run_now(queue.database, "nightly")

    assert {queue.row(job_id).attempts for job_id in (*ids, plain)} == {0}
    assert len(handled_payloads(queue, 6)) == (1 if key_is_missing else 6)


def test_reencrypted_recurring_job_without_a_key_goes_on(queue: Queue, key: pytest.MonkeyPatch) -> None:
    queue.enqueue(payload=SECRET, every="P1D")
    key.setenv(PREVIOUS, KEY)
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)
    assert list(reencrypt(queue.database)) == [1]
    key.delenv(PREVIOUS)
    payloads = []
    for _ in range(3):
        queue.sql("update minutehand.jobs_live set run_at = run_at, visible = now()")
        payloads += handled_payloads(queue)

    assert payloads == [SECRET] * 3


def test_forged_payload_does_not_stop_a_rotation(queue: Queue, key: pytest.MonkeyPatch) -> None:
    victim, job = queue.enqueue(payload="a"), queue.enqueue(payload="b")
    queue.sql(
        "update minutehand.jobs_live set payload = (select payload from minutehand.jobs_live where id = %(job)s)"
        " where id = %(victim)s",
        job=job,
        victim=victim,
    )
    key.setenv(PREVIOUS, KEY)
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)

    with pytest.raises(DecryptionError, match=f"cannot be decrypted and stay as they are: job {victim}$"):
        list(reencrypt(queue.database))
    key.delenv(PREVIOUS)

    assert handled_payloads(queue, 2) == ["b"]


def test_reencryption_does_not_overwrite_a_concurrent_change(
    direct_queue: Queue, key: pytest.MonkeyPatch
) -> None:
    direct_queue.enqueue(payload="old", key="a")
    key.setenv(PREVIOUS, KEY)
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)
    rows = direct_queue.database.run("outdated_payloads", name="another", after=FIRST, queue=None, limit=10)
    direct_queue.enqueue(payload="new", key="a")

    stale = direct_queue.database.run(
        "replace_payloads", ids=[rows[0]["id"]], former=[rows[0]["text"]], payloads=['"stale"']
    )

    assert stale == []
    assert handled_payloads(direct_queue) == ["new"]


def test_encrypted_results_are_decrypted_by_wait(queue: Queue, key: pytest.MonkeyPatch) -> None:
    plain, _ = queue.attempt(lambda payload: {"card": SECRET})
    key.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")
    encrypted, _ = queue.attempt(lambda payload: {"card": SECRET})

    def set_in_transaction(payload: object, job: Job) -> None:
        with job.transaction():
            job.result = {"card": SECRET}

    in_transaction, _ = queue.attempt(set_in_transaction)

    assert [SECRET in stored(queue, job_id) for job_id in (plain, encrypted, in_transaction)] == [
        True,
        False,
        False,
    ]
    for job_id in (plain, encrypted, in_transaction):
        assert wait(job_id, connection=queue.database).result == {"card": SECRET}


def test_encrypted_result_is_decrypted_for_the_next_attempt(
    direct_queue: Queue, key: pytest.MonkeyPatch
) -> None:
    key.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")
    seen: list[object] = []

    def handle(_payload: object, job: Job) -> None:
        seen.append(job.previous_result)
        raise RetryAfter(timedelta(), result={"card": SECRET})

    job_id, _ = direct_queue.attempt(handle)
    assert SECRET not in stored(direct_queue, job_id)
    direct_queue.work(handle)

    assert seen == [None, {"card": SECRET}]


def test_result_that_cannot_be_encrypted_is_not_stored(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")
    key.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")

    job_id, finish = direct_queue.attempt(lambda payload: SECRET)

    assert finish.ending == "done"
    assert direct_queue.row(job_id).result is None


def test_unencrypted_payload_is_rejected_if_encryption_is_required(
    direct_queue: Queue, key: pytest.MonkeyPatch
) -> None:
    key.setenv("MINUTEHAND_ENCRYPTION_REQUIRED", "1")
    direct_queue.sql("select minutehand.enqueue('echo', '{\"card\": 1}')")

    assert attempt_outcome(direct_queue) == ("dead", "DecryptionError")


def test_cryptography_is_not_imported_without_a_key(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    job_id = direct_queue.enqueue(payload={"minutehand": "is fine"})

    assert get(direct_queue.database, job_id).payload == {"minutehand": "is fine"}
    assert handled_payloads(direct_queue) == [{"minutehand": "is fine"}]
    code = (
        "import sys; from minutehand import Database, enqueue; import minutehand.handle\n"
        "enqueue('echo', {'a': 1}, connection=Database(sys.argv[1]))\n"
        "unwanted = {'cryptography', 'minutehand.encryption.envelope', 'minutehand.encryption.key_ring'}\n"
        "print(*unwanted & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, url_of(direct_queue)], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
