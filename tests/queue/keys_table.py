"""What becomes of a second enqueue of a key, by what it says and by the state of the first: seen, not said."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from minutehand import KeyTakenError, enqueue
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
PERIOD, WAIT = timedelta(hours=5), timedelta(hours=7)
BEGIN, END = "<!-- seen by tests/queue/test_keys_table.py -->\n", "<!-- end -->\n"


def scheduled(queue: Queue, **first: Any) -> UUID:
    return queue.enqueue(payload=["old"], key="k", delay=LONG, **first)


def due(queue: Queue, **first: Any) -> UUID:
    return queue.enqueue(payload=["old"], key="k", **first)


def offered(queue: Queue, **first: Any) -> UUID:
    job_id = due(queue, **first)
    assert [offer.id for offer in queue.offer()] == [job_id]
    return job_id


def running(queue: Queue, **first: Any) -> UUID:
    return queue.claimed(payload=["old"], key="k", **first).id


def lapsed(queue: Queue, **first: Any) -> UUID:
    job_id = running(queue, **first)
    queue.pass_time(job_id)
    return job_id


def retrying(queue: Queue, **first: Any) -> UUID:
    job = queue.claimed(payload=["old"], key="k", **first)
    assert finish(job, Failed(ERROR, delay=LONG)).ending == "retrying"
    return job.id


def done(queue: Queue, **first: Any) -> UUID:
    job = queue.claimed(payload=["old"], key="k", **first)
    assert finish(job, Done()).ending == "done"
    return job.id


def dead(queue: Queue, **first: Any) -> UUID:
    job = queue.claimed(payload=["old"], key="k", **first)
    assert finish(job, Failed(ERROR, final=True)).ending == "dead"
    return job.id


STATES: dict[str, Callable[..., UUID]] = {
    "scheduled": scheduled, "due": due, "offered": offered, "running": running, "lapsed": lapsed,
    "retrying": retrying, "done": done, "dead": dead,
}  # fmt: skip


@dataclass(frozen=True)
class Mode:
    """What the second enqueue says, and the first one too where a period begins with it."""

    second: dict[str, Any]
    first: dict[str, Any]


def both(**said: Any) -> Mode:
    return Mode(said, said)


MODES: dict[str, Mode] = {
    '`on_conflict="replace"`': Mode({}, {}),
    '`on_conflict="ignore"`': Mode({"on_conflict": "ignore"}, {}),
    '`on_conflict="raise"`': Mode({"on_conflict": "raise"}, {}),
    '`on_conflict="merge"`': Mode({"on_conflict": "merge"}, {}),
    "`debounce`": Mode({"debounce": WAIT}, {}),
    '`debounce`, `"merge"`': Mode({"debounce": WAIT, "on_conflict": "merge"}, {}),
    '`unique_while="running"`': Mode({"unique_while": "running"}, {}),
    "`unique_for`": both(unique_for=PERIOD),
    '`unique_for`, `"ignore"`': both(unique_for=PERIOD, on_conflict="ignore"),
    '`unique_for`, `"raise"`': both(unique_for=PERIOD, on_conflict="raise"),
    "`throttle`": both(throttle=PERIOD),
    '`throttle`, `"ignore"`': both(throttle=PERIOD, on_conflict="ignore"),
    "one more part in the key": Mode({"key": ("k", "again")}, {}),
}


def seen(queue: Queue, state: str, mode: Mode) -> str:
    """Have it happen, and say what became of it."""
    first = STATES[state](queue, **mode.first)
    before = queue.row(first)
    said = {"key": "k", **mode.second}
    try:
        made = enqueue("echo", ["new"], connection=queue.database, **said)
    except KeyTakenError:
        assert queue.row(first) == before
        return "`KeyTakenError`"
    after, row = queue.row(first), queue.row(made.id)
    if made.id != first:
        assert (made.outcome, row.payload, after) == ("created", ["new"], before)
        return f"created{_when(queue, made.id)}"
    if made.outcome == "ignored":
        assert after == before
        return "ignored"
    assert row.payload == {"replaced": ["new"], "merged": ["old", "new"]}[made.outcome]
    assert (row.attempts, row.enqueued > before.enqueued) == (0, True)
    return made.outcome + _when(queue, first, before.visible == row.visible) + _offer(before, row)


def _when(queue: Queue, job_id: UUID, stays: bool = False) -> str:
    if stays:
        return ", its moment stays"
    for delay, words in ((WAIT, ", put off"), (PERIOD, ", for the period's end")):
        if queue.waits(job_id, delay):
            return words
    return ""


def _offer(before: Any, after: Any) -> str:
    if before.state != "offered":
        return ""
    return ", its offer stays" if after.state == "offered" else ", its offer is void"


def table(cells: dict[tuple[str, str], str]) -> str:
    """Return the table as it stands in the page."""
    head = ["the second says, the first is", *STATES]
    rows = [head, ["---"] * len(head), *([mode, *(cells[mode, state] for state in STATES)] for mode in MODES)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
