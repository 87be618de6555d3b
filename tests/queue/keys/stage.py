"""A second enqueue of a key."""

from typing import Any

from minutehand import Enqueued, enqueue
from tests.queue.stage import Queue


def enqueue_again(queue: Queue, payload: object = None, /, **options: Any) -> Enqueued:
    return enqueue("echo", payload, connection=queue.database, **({"key": "k"} | options))
