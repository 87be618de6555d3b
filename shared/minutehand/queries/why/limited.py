"""The place of a due job under a reached limit, and when the limit is expected to have room."""

from typing import Any

from minutehand.database import Executor
from minutehand.model.row import Row
from minutehand.queries.why.evidence import COUNTED, MAX_READ, Evidence, Limited
from minutehand.queries.why.limits import names_under, reached


async def place_under_limit(executor: Executor, known: Evidence) -> Limited | None:
    """Return the place of a due job under the limit that it waits for; None if none is reached."""
    control = reached(known)
    if control is None:
        return None
    names = names_under(control, known.row)
    # A key has one upcoming job.
    (line,) = (
        await executor.run("why_limited_line", **_of_line(names, known.row)) if not names["key"] else [{}]
    )
    ending = await executor.run("why_limited_next", **names, limit=control.limit) if control.limit else []
    return Limited(**line, **(ending[0] if ending else {}), spans_queues=names["queue"] is None)


def _of_line(names: dict[str, str | None], row: Row) -> dict[str, Any]:
    return {
        "of": "group" if names["group"] else "tenant" if names["tenant"] else "queue",
        "id": row.id,
        "queue": row.queue,
        "priority": row.priority,
        "visible": row.visible,
        "tenant": row.tenant or "",
        "group": names["group"],
        "kind": names["kind"],
        # The kind is not in the indexes.
        "limit": MAX_READ if names["kind"] else COUNTED,
    }
