"""The place of a due job under a reached limit, and when the limit is expected to have room."""

from typing import Any

from minutehand.database import Executor
from minutehand.model.control import SCOPE, Control
from minutehand.model.row import Row
from minutehand.queries.why.evidence import COUNTED, MAX_READ, Evidence, Limited
from minutehand.queries.why.limits import reached

# A limit per group or key is of one queue and tenant.
WITHIN = {"group": ("queue", "tenant", "group"), "key": ("queue", "tenant", "key"), "tenant": ("tenant",)}


async def place_under_limit(executor: Executor, known: Evidence) -> Limited | None:
    """Return the place of a due job under the limit that it waits for; None if none is reached."""
    control = reached(known)
    if control is None:
        return None
    names = _names(control, known.row)
    # A key has one upcoming job.
    (line,) = (
        await executor.run("why_limited_line", **_of_line(names, known.row)) if not names["key"] else [{}]
    )
    ending = await executor.run("why_limited_next", **names) if control.limit else []
    return Limited(**line, **(ending[0] if ending else {}))


def _names(control: Control, row: Row) -> dict[str, str | None]:
    """Return what the jobs under a limit have in common with the job; None stands for any."""
    own = {name: getattr(row, name) or "" for name in WITHIN.get(control.per, ())}
    return {name: own.get(name, getattr(control, name) or None) for name in SCOPE}


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
