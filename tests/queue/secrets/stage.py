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


def seen(queue: Queue, most: int = 1) -> list[Any]:
    """What the handler sees of what is due."""
    payloads: list[Any] = []
    queue.work(payloads.append, most)
    return payloads


def ending(queue: Queue) -> Any:
    """How the attempt of a handler that would return ends."""
    (finish,) = queue.work(lambda payload: None)
    return finish.ending, (finish.error or {}).get("type")
