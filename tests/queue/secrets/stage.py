"""Encrypted jobs as they are stored and as handlers see them."""

import base64
from typing import Any

from tests.queue.stage import Queue

KEY = base64.b64encode(bytes(range(32))).decode()


def stored(queue: Queue, job_id: object) -> str:
    (row,) = queue.sql(
        "select row_to_json(j)::text as text from minutehand.jobs j where id = %(id)s", id=job_id
    )
    text: str = row["text"]
    return text


def handled_payloads(queue: Queue, limit: int = 1) -> list[Any]:
    """Return the payloads of due jobs as their handler receives them."""
    payloads: list[Any] = []
    queue.work(payloads.append, limit)
    return payloads


def attempt_outcome(queue: Queue) -> Any:
    """Return the outcome and the type of error of one attempt."""
    (finish,) = queue.work(lambda payload: None)
    return finish.ending, (finish.error or {}).get("type")
