"""Parameters of the statements that only the command line runs, and of those for defaults."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

_OPTIONS = dict.fromkeys(["priority", "max_attempts", "timeout", "retry", "on_dead"])
DEFAULTS = {
    "set_queue_defaults": {**_OPTIONS, "queue": "default"},
    "set_defaults": {**_OPTIONS, "queue": None, "kind": "echo"},
}


def of_the_command_line(due: Sequence[UUID], which: dict[str, Any]) -> dict[str, dict[str, Any]]:
    lowest, highest = UUID(int=0), UUID(int=2**128 - 1)
    return {
        "find_ids": {"low": min(due), "high": max(due)},
        "list_holds": {"limit": 100},
        "near_ids": {"ids": due[:10], "lows": [lowest] * 10, "highs": [highest] * 10},
        "find_served": {"queues": ["nobody"], "period": timedelta(minutes=5)},
        "find_finished": dict.fromkeys(["queue", "kind", "key", "group", "since", "before", "other_than"])
        | {"states": ["dead"], "older_than": "2", "mark": "older than 2", "limit": 100},
        "paused_due": which,
        "system_budgets": {"limit": 10_000, "queues": 100, "capacity": 50},
        "system_state": {"limit": 10_000},
        "system_versions": {"limit": 200, "rows": 50},
        "top_queues": {"limit": 2000},
        "top_failing": {"queue": None, "limit": 2000},
        "top_jobs": {"queue": "default", "limit": 10},
    }
