"""Top: the state of all queues now, and that of one queue, at a bounded cost."""

from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import NotFoundError
from minutehand.model.control import Control
from minutehand.operations.controls import list_controls
from minutehand.queries.top.figures import Detail, Failing, Job, Overview, QueueFigures
from minutehand.queries.why import why_queue

__all__ = ["Detail", "Failing", "Job", "Overview", "QueueFigures", "detail", "overview"]

# Jobs are counted up to this number for each figure.
COUNTED = 10_000
SAMPLED = 2000
LISTED = 10
MAX_CONTROLS = 200


@sync_or_async
async def overview(executor: Executor) -> Overview:
    """Return the state of all queues, of all tenants. Its cost does not depend on the number of jobs.

    It needs the privileges of minutehand_operator. The rates are those of the last minute.
    """
    (state,) = await executor.run("top_state")
    due = {each["queue"]: each for each in await executor.run("count_due", limit=COUNTED, now=None)}
    figures = {each["queue"]: each for each in await executor.run("top_queues", limit=SAMPLED)}
    pauses = [each for each in await list_controls(executor, limit=MAX_CONTROLS) if each.paused]
    paused = {each.queue: each for each in pauses if _is_of_a_queue(each)}
    failing = [Failing(**each) for each in await executor.run("top_failing", queue=None, limit=SAMPLED)]
    names = sorted({*due, *figures, *(name for name in paused if name)})
    return Overview(
        **state,
        paused_everything="" in paused,
        queues=tuple(_figures(name, due, figures, paused) for name in names),
        failing=tuple(failing),
    )


@sync_or_async
async def detail(executor: Executor, queue: str) -> Detail:
    """Return the due and busy jobs of a queue, at most ten of each, its failing kinds, and why it is late."""
    records = await executor.run("top_jobs", queue=queue, limit=LISTED)
    failing = await executor.run("top_failing", queue=queue, limit=SAMPLED)
    try:
        answer = await why_queue(executor, queue)
    except NotFoundError:
        answer = None
    jobs = [Job(**each) for each in records]
    return Detail(
        queue=queue,
        due=tuple(
            sorted((each for each in jobs if each.state == "due"), key=lambda each: each.since)[:LISTED]
        ),
        busy=tuple(each for each in jobs if each.state != "due"),
        failing=tuple(Failing(**each) for each in failing),
        why=answer,
    )


def _is_of_a_queue(control: Control) -> bool:
    return not (control.kind or control.key or control.group or control.tenant)


def _figures(
    name: str, due: dict[str, Record], figures: dict[str, Record], paused: dict[str, Control]
) -> QueueFigures:
    known: dict[str, Any] = {"offered": 0, "running": 0, "enqueued": 0, "finished": 0, "budget": None}
    known |= figures.get(name, {}) | {"queue": name}
    counted = due.get(name)
    return QueueFigures(
        **known,
        due=counted["due"] if counted else 0,
        late=counted["late"] if counted else None,
        paused=name in paused or "" in paused,
    )
