"""Payloads are encrypted in the table, bound to their row, and decrypted for handlers."""

import base64
import json
from typing import Any
from uuid import uuid4

import pytest

from minutehand import InvalidJobError, NewJob, enqueue_many
from minutehand.attempts.in_turn import run_jobs
from minutehand.encryption.envelope import Subject, decrypt, encrypt
from minutehand.handlers import HandlerTable
from minutehand.model.payload import is_encrypted
from minutehand.operations.edit import edit
from minutehand.operations.jobs import replay
from minutehand.schedules import Schedule, run_now, save
from tests.queue.secrets.stage import attempt_outcome, handled_payloads, stored
from tests.queue.stage import Queue

SECRET = "4929-1234"


def test_payload_is_encrypted_in_the_table_and_decrypted_for_handlers(queue: Queue) -> None:
    job_id = queue.enqueue(payload={"card": SECRET})

    assert SECRET not in stored(queue, job_id)
    assert is_encrypted(queue.row(job_id).payload)
    assert handled_payloads(queue) == [{"card": SECRET}]


def test_queue_kind_key_and_headers_are_not_encrypted(queue: Queue) -> None:
    job_id = queue.enqueue("echo", SECRET, key=("customer", 4711), headers={"trace": "t"})

    row = queue.row(job_id)
    assert (row.kind, row.queue, row.key, row.headers) == ("echo", "default", "customer/4711", {"trace": "t"})


@pytest.mark.parametrize(
    "payload", [None, True, 10**400, 0.1 + 0.2, -0.0, "a\0b\u2028é", [[]], {"b": 1, "a": {"\0": 1}}]
)
def test_encrypted_payload_is_returned_unchanged(direct_queue: Queue, payload: object) -> None:
    direct_queue.enqueue(payload=payload)

    (payloads,) = handled_payloads(direct_queue)
    assert repr(payloads) == repr(payload)


def test_same_payload_is_encrypted_with_a_new_nonce_each_time(direct_queue: Queue) -> None:
    texts = {encrypt('"x"', Subject("echo")) for _ in range(100)}

    assert len({json.loads(text)["minutehand"]["iv"] for text in texts}) == 100


def test_bulk_items_are_encrypted_individually(direct_queue: Queue) -> None:
    jobs = [NewJob("echo", {"n": n, "card": SECRET}, key=f"k{n}" if n % 2 else None) for n in range(10)]

    ids = [each.id for each in enqueue_many(jobs, connection=direct_queue.database, chunk=4)]  # type: ignore[union-attr]

    assert not any(SECRET in stored(direct_queue, job_id) for job_id in ids)
    assert sorted(payload["n"] for payload in handled_payloads(direct_queue, 10)) == list(range(10))


@pytest.mark.parametrize("options", [{}, {"key": "a"}])
def test_payload_copied_to_another_row_does_not_decrypt(direct_queue: Queue, options: dict[str, Any]) -> None:
    source = direct_queue.enqueue(payload=SECRET, delay=None, **options)
    direct_queue.sql("update minutehand.jobs_live set run_at = run_at, visible = now() + interval '1 day'")
    target = direct_queue.enqueue(payload="own", **({"key": "b"} if options else {}))
    direct_queue.sql(
        "update minutehand.jobs_live set payload = (select payload from minutehand.jobs where id = %(source)s) "
        "where id = %(target)s",
        source=source,
        target=target,
    )

    assert attempt_outcome(direct_queue) == ("dead", "DecryptionError")


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
    update = f"update minutehand.jobs_live set {change}, visible = now(), run_at = run_at"
    direct_queue._admin.connection.execute(update)  # type: ignore[arg-type]

    handlers = HandlerTable(dict.fromkeys(["echo", "other"], lambda payload: payload))
    (finish,) = run_jobs(direct_queue.take(), handlers, stopping=lambda: False)
    assert (finish.ending, (finish.error or {})["type"]) == ("dead", "DecryptionError")


@pytest.mark.parametrize("part", ["text", "iv", "key", "bound", "v", "alg"])
def test_changed_envelope_does_not_decrypt(part: str, key: pytest.MonkeyPatch) -> None:
    subject = Subject("echo", id=str(uuid4()))
    envelope = json.loads(encrypt('"x"', subject))
    original = envelope["minutehand"][part]
    changed = {"v": 2, "bound": ["kind"]}.get(part) or base64.b64encode(
        bytes(b ^ 1 for b in base64.b64decode(original + "=" * (-len(original) % 4)))
    ).decode()
    envelope["minutehand"][part] = changed

    with pytest.raises(Exception, match=r"cannot be decrypted|is not supported|is missing"):
        decrypt(envelope, subject)


def test_replaced_job_is_decrypted_with_its_new_payload(queue: Queue) -> None:
    first = queue.enqueue(payload="one", key="a")
    second = queue.enqueue(payload="two", key="a")

    assert first == second
    assert handled_payloads(queue) == ["two"]


def test_encrypted_payloads_are_not_merged(direct_queue: Queue) -> None:
    direct_queue.enqueue(payload=[1], key="a")

    with pytest.raises(InvalidJobError) as refused:
        direct_queue.enqueue(payload=[2], key="a", on_conflict="merge")
    assert refused.value.rule == "payloads_merge"


@pytest.mark.parametrize("options", [{"key": "a"}, {}])
def test_each_occurrence_of_a_recurring_job_is_decrypted(queue: Queue, options: dict[str, Any]) -> None:
    queue.enqueue(payload=SECRET, every="P1D", **options)
    payloads = []
    for _ in range(3):
        queue.sql("update minutehand.jobs_live set run_at = run_at, visible = now()")
        payloads += handled_payloads(queue)

    assert payloads == [SECRET] * 3


@pytest.mark.parametrize(("options", "suffix"), [({}, ""), ({"key": "a"}, ""), ({"key": "a"}, "/again")])
def test_replayed_job_is_decrypted(queue: Queue, options: dict[str, Any], suffix: str) -> None:
    job_id = queue.enqueue(payload=SECRET, **options)
    handled_payloads(queue)

    (change,) = replay(queue.database, [job_id], suffix=suffix)

    assert SECRET not in stored(queue, change.new)
    assert handled_payloads(queue) == [SECRET]


@pytest.mark.parametrize("options", [{}, {"key": "a"}, {"every": "P1D", "key": "a"}])
def test_edited_payload_is_encrypted(direct_queue: Queue, options: dict[str, Any]) -> None:
    job_id = direct_queue.enqueue(payload="old", **options)

    (change,) = edit(direct_queue.database, [job_id], payload=SECRET)

    assert change.outcome == "changed"
    assert SECRET not in stored(direct_queue, job_id)
    direct_queue.sql("update minutehand.jobs_live set run_at = run_at, visible = now()")
    assert handled_payloads(direct_queue) == [SECRET]


def test_edit_refuses_an_on_dead_with_a_clear_payload(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue()

    with pytest.raises(InvalidJobError, match="on_dead must have no payload if payloads are encrypted"):
        edit(direct_queue.database, [job_id], on_dead=NewJob("alert", {"card": SECRET}))


def test_scheduled_job_is_encrypted_and_decrypted_at_each_firing(direct_queue: Queue) -> None:
    save(direct_queue.database, Schedule("nightly", "@daily", NewJob("echo", {"card": SECRET})))

    for _ in range(2):
        run_now(direct_queue.database, "nightly")
        assert handled_payloads(direct_queue) == [{"card": SECRET}]
    (row,) = direct_queue.sql("select string_agg(s::text, '') as text from minutehand.schedules s")
    assert SECRET not in row["text"]
