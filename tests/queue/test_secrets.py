"""Secrets: what is in the table cannot be read, moved or changed, and its handler sees it in clear."""

import base64
import json
import subprocess
import sys
from typing import Any
from uuid import uuid4

import pytest

from minutehand import ConfigurationError, InvalidJobError, Job, NewJob, enqueue_many
from minutehand.encryption.envelope import Subject, decrypt, encrypt
from minutehand.encryption.reencrypt import FIRST, reencrypt
from minutehand.errors import KeyMissingError
from minutehand.handlers import HandlerTable
from minutehand.model.payload import is_encrypted
from minutehand.operations.edit import edit
from minutehand.operations.jobs import replay
from minutehand.queries.jobs import get
from minutehand.queries.wait import wait
from minutehand.schedules import Schedule, run_now, save
from minutehand.work import run_jobs
from tests.queue.stage import Queue

KEY = base64.b64encode(bytes(range(32))).decode()
OTHER = bytes(range(32, 64)).hex()
PREVIOUS = "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"
SECRET = "4929-1234"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    return monkeypatch


def stored(queue: Queue, job_id: object) -> str:
    (row,) = queue.sql(
        "select row_to_json(j)::text as text from minutehand.jobs j where id = %(id)s", id=job_id
    )
    text: str = row["text"]
    return text


def url_of(queue: Queue) -> str:
    return queue._url


def seen(queue: Queue, most: int = 1) -> list[Any]:
    """What the handler sees of what is due."""
    payloads: list[Any] = []
    queue.work(payloads.append, most)
    return payloads


def ending(queue: Queue) -> Any:
    """How the attempt of a handler that would return ends."""
    (finish,) = queue.work(lambda payload: None)
    return finish.ending, (finish.error or {}).get("type")


def test_payload_is_encrypted_in_the_table_and_decrypted_for_handlers(queue: Queue) -> None:
    job_id = queue.enqueue(payload={"card": SECRET})

    assert SECRET not in stored(queue, job_id)
    assert is_encrypted(queue.row(job_id).payload)
    assert seen(queue) == [{"card": SECRET}]


def test_queue_kind_key_and_headers_are_not_encrypted(queue: Queue) -> None:
    job_id = queue.enqueue("echo", SECRET, key=("customer", 4711), headers={"trace": "t"})

    row = queue.row(job_id)
    assert (row.kind, row.queue, row.key, row.headers) == ("echo", "default", "customer/4711", {"trace": "t"})


@pytest.mark.parametrize(
    "payload", [None, True, 10**400, 0.1 + 0.2, -0.0, "a\0b\u2028é", [[]], {"b": 1, "a": {"\0": 1}}]
)
def test_encrypted_payload_is_returned_unchanged(direct_queue: Queue, payload: object) -> None:
    direct_queue.enqueue(payload=payload)

    (got,) = seen(direct_queue)
    assert repr(got) == repr(payload)


def test_same_payload_is_encrypted_with_a_new_nonce_each_time(direct_queue: Queue) -> None:
    texts = {encrypt('"x"', Subject("echo")) for _ in range(100)}

    assert len({json.loads(text)["minutehand"]["iv"] for text in texts}) == 100


def test_bulk_items_are_encrypted_individually(direct_queue: Queue) -> None:
    jobs = [NewJob("echo", {"n": n, "card": SECRET}, key=f"k{n}" if n % 2 else None) for n in range(10)]

    ids = [each.id for each in enqueue_many(jobs, connection=direct_queue.database, chunk=4)]  # type: ignore[union-attr]

    assert not any(SECRET in stored(direct_queue, job_id) for job_id in ids)
    assert sorted(payload["n"] for payload in seen(direct_queue, 10)) == list(range(10))


@pytest.mark.parametrize("options", [{}, {"key": "a"}])
def test_payload_copied_to_another_row_does_not_decrypt(direct_queue: Queue, options: dict[str, Any]) -> None:
    theirs = direct_queue.enqueue(payload=SECRET, delay=None, **options)
    direct_queue.sql("update minutehand.jobs_live set visible = now() + interval '1 day'")
    mine = direct_queue.enqueue(payload="mine", **({"key": "b"} if options else {}))
    direct_queue.sql(
        "update minutehand.jobs_live set payload = (select payload from minutehand.jobs where id = %(theirs)s) "
        "where id = %(mine)s", theirs=theirs, mine=mine,
    )  # fmt: skip

    assert ending(direct_queue) == ("dead", "DecryptionError")


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({}, "kind = 'other'"),
        ({"key": "a"}, "kind = 'other'"),
        ({"key": "a"}, "key = 'b'"),
        ({"key": "a"}, "key = null"),
        ({"key": "a", "queue": "mail"}, "queue = 'default'"),
        ({"key": "a", "tenant": "acme"}, "tenant = 'other'"),
        ({"every": "P1D"}, "kind = 'other'"),
    ],
)
def test_payload_of_a_changed_row_does_not_decrypt(
    direct_queue: Queue, options: dict[str, Any], change: str
) -> None:
    direct_queue.enqueue(payload=SECRET, **options)
    direct_queue._admin.connection.execute(f"update minutehand.jobs_live set {change}, visible = now()")  # type: ignore[arg-type]

    handlers = HandlerTable({"echo": print, "other": print})
    (finish,) = run_jobs(direct_queue.take(), handlers, stopping=lambda: False)
    assert (finish.ending, (finish.error or {})["type"]) == ("dead", "DecryptionError")


@pytest.mark.parametrize("part", ["text", "iv", "key", "bound", "v", "alg"])
def test_changed_envelope_does_not_decrypt(part: str, key: pytest.MonkeyPatch) -> None:
    subject = Subject("echo", id=str(uuid4()))
    envelope = json.loads(encrypt('"x"', subject))
    was = envelope["minutehand"][part]
    changed = {"v": 2, "bound": ["kind"]}.get(part) or base64.b64encode(
        bytes(b ^ 1 for b in base64.b64decode(was + "=" * (-len(was) % 4)))
    ).decode()
    envelope["minutehand"][part] = changed

    with pytest.raises(Exception, match=r"does not decrypt|is not supported|does not have"):
        decrypt(envelope, subject)


def test_replaced_job_is_decrypted_with_its_new_payload(queue: Queue) -> None:
    first = queue.enqueue(payload="one", key="a")
    second = queue.enqueue(payload="two", key="a")

    assert first == second
    assert seen(queue) == ["two"]


def test_encrypted_payloads_are_not_merged(direct_queue: Queue) -> None:
    direct_queue.enqueue(payload=[1], key="a")

    with pytest.raises(InvalidJobError) as refused:
        direct_queue.enqueue(payload=[2], key="a", on_conflict="merge")
    assert refused.value.rule == "payloads_merge"


@pytest.mark.parametrize("options", [{"key": "a"}, {}])
def test_each_occurrence_of_a_recurring_job_is_decrypted(queue: Queue, options: dict[str, Any]) -> None:
    queue.enqueue(payload=SECRET, every="P1D", **options)
    got = []
    for _ in range(3):
        queue.sql("update minutehand.jobs_live set visible = now()")
        got += seen(queue)

    assert got == [SECRET] * 3


@pytest.mark.parametrize(("options", "suffix"), [({}, ""), ({"key": "a"}, ""), ({"key": "a"}, "/again")])
def test_replayed_job_is_decrypted(queue: Queue, options: dict[str, Any], suffix: str) -> None:
    job_id = queue.enqueue(payload=SECRET, **options)
    seen(queue)

    (change,) = replay(queue.database, [job_id], suffix=suffix)

    assert SECRET not in stored(queue, change.new)
    assert seen(queue) == [SECRET]


def test_replay_without_the_key_creates_no_job(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    job_id = direct_queue.enqueue(payload=SECRET)
    seen(direct_queue)
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    with pytest.raises(KeyMissingError):
        replay(direct_queue.database, [job_id])
    assert direct_queue.sql("select count(*) as jobs from minutehand.jobs_live") == [{"jobs": 0}]


@pytest.mark.parametrize("options", [{}, {"key": "a"}, {"every": "P1D", "key": "a"}])
def test_edited_payload_is_encrypted(direct_queue: Queue, options: dict[str, Any]) -> None:
    job_id = direct_queue.enqueue(payload="old", **options)

    (change,) = edit(direct_queue.database, [job_id], payload=SECRET)

    assert change.outcome == "changed"
    assert SECRET not in stored(direct_queue, job_id)
    direct_queue.sql("update minutehand.jobs_live set visible = now()")
    assert seen(direct_queue) == [SECRET]


def test_scheduled_job_is_encrypted_and_decrypted_at_each_firing(direct_queue: Queue) -> None:
    save(direct_queue.database, Schedule("nightly", "@daily", NewJob("echo", {"card": SECRET})))

    for _ in range(2):
        run_now(direct_queue.database, "nightly")
        assert seen(direct_queue) == [{"card": SECRET}]
    (row,) = direct_queue.sql("select string_agg(s::text, '') as text from minutehand.schedules s")
    assert SECRET not in row["text"]


def test_worker_without_the_key_releases_the_job(queue: Queue, key: pytest.MonkeyPatch) -> None:
    job_id = queue.enqueue(payload=SECRET, max_attempts=1)
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    assert ending(queue) == ("released", "KeyMissingError")

    row = queue.row(job_id)
    assert row.attempts == 0
    assert "MINUTEHAND_ENCRYPTION_KEY" in (row.error or {})["message"]
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    queue.sql("update minutehand.jobs_live set visible = now()")
    assert seen(queue) == [SECRET]


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
    assert sorted(seen(direct_queue, 2)) == ["new", "old"]


@pytest.mark.parametrize("gone", [False, True])
def test_reencrypted_payloads_do_not_need_the_old_key(
    queue: Queue, key: pytest.MonkeyPatch, gone: bool
) -> None:
    ids = [queue.enqueue(payload=n, **({"key": str(n)} if n % 2 else {})) for n in range(4)]
    plain = queue.sql("select id from minutehand.enqueue('echo', '{\"a\\u0000b\": 4}')")[0]["id"]
    save(queue.database, Schedule("nightly", "@daily", NewJob("echo", SECRET)))
    key.setenv("MINUTEHAND_ENCRYPTION_KEY", OTHER)
    if not gone:
        key.setenv(PREVIOUS, KEY)
        assert list(reencrypt(queue.database, actor="ada")) == [4, 1]
        key.delenv(PREVIOUS)
        assert list(reencrypt(queue.database)) == []
    run_now(queue.database, "nightly")

    assert {queue.row(job_id).attempts for job_id in (*ids, plain)} == {0}
    assert len(seen(queue, 6)) == (1 if gone else 6)


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
    assert seen(direct_queue) == ["new"]


def test_encrypted_results_are_decrypted_by_wait(queue: Queue, key: pytest.MonkeyPatch) -> None:
    plain, _ = queue.attempt(lambda payload: {"card": SECRET})
    key.setenv("MINUTEHAND_ENCRYPT_RESULTS", "1")
    sealed, _ = queue.attempt(lambda payload: {"card": SECRET})

    def book(payload: object, job: Job) -> None:
        with job.transaction():
            job.result = {"card": SECRET}

    booked, _ = queue.attempt(book)

    assert [SECRET in stored(queue, job_id) for job_id in (plain, sealed, booked)] == [True, False, False]
    for job_id in (plain, sealed, booked):
        assert wait(job_id, connection=queue.database).result == {"card": SECRET}


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

    assert ending(direct_queue) == ("dead", "DecryptionError")


def test_cryptography_is_not_imported_without_a_key(direct_queue: Queue, key: pytest.MonkeyPatch) -> None:
    key.delenv("MINUTEHAND_ENCRYPTION_KEY")

    job_id = direct_queue.enqueue(payload={"minutehand": "is fine"})

    assert get(direct_queue.database, job_id).payload == {"minutehand": "is fine"}
    assert seen(direct_queue) == [{"minutehand": "is fine"}]
    code = (
        "import sys; from minutehand import Database, enqueue; import minutehand.handle\n"
        "enqueue('echo', {'a': 1}, connection=Database(sys.argv[1]))\n"
        "unwanted = {'cryptography', 'minutehand.encryption.envelope', 'minutehand.encryption.key_ring'}\n"
        "print(*unwanted & set(sys.modules))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, url_of(direct_queue)], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == ""
