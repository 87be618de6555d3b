"""Values of the parameters that several statements share."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from minutehand.model.new_job import OPTIONS
from minutehand.model.reached import BEGINNING

ATTEMPT = {
    "outcome": "done",
    "seconds": 0.5,
    "result": None,
    "error": None,
    "worker": "a-worker",
    "request": None,
    "memory_mb": 512,
    "version": "7",
}
TAKES: dict[str, dict[str, Any]] = {
    "take": {
        "queue": "default",
        "limit": 10,
        "now": None,
        "only": None,
        "freed": None,
        "behind": "2 seconds",
        "longest": "5 minutes",
    },
    "take_ahead": {"queue": "default", "limit": 10, "behind": "2 seconds", **BEGINNING},
}
FINISHES = ("finish", "finish_done", "finish_in_batch")
ATTEMPTS_OF_A_WORKER = {
    "outcomes": ["done"],
    "seconds": [0.5],
    "results": None,
    "errors": None,
    "holds": None,
    **{name: ATTEMPT[name] for name in ("worker", "request", "memory_mb", "version")},
}
JOB_OPTIONS = (*OPTIONS, "id")
OF_LIMITS: dict[str, Any] = {
    "list_installed": {},
    "end_wait": {"waiter": UUID(int=0)},
    "why_group": {"queue": "default", "tenant": "", "group": "a"},
    "limit_time": {"milliseconds": 10_000},
    "why_limited_next": {
        "tenant": "",
        "queue": "default",
        "kind": "echo",
        "key": None,
        "group": None,
        "limit": 1,
    },
    # The last of the due jobs, under a limit of a kind.
    "why_limited_line": {
        "of": "queue",
        "tenant": "",
        "group": None,
        "kind": "echo",
        "queue": "default",
        "priority": 0,
    }
    | {"id": UUID(int=0), "visible": datetime.now(UTC), "limit": 2000},
    "list_installed_limits": {
        "source": "code",
        "scopes": '[{"queue": "mail", "kind": "", "key": "", "group": "", "tenant": "", "per": "group"}]',
    },
    "note_source": dict.fromkeys(["tenant", "kind", "key", "group", "per"], "")
    | {"queue": "mail", "source": "code", "hash": "1"},
}
AT_A_TIME = """
    delete_batches forget_times prune_groups prune_rates prune_unclaimed raise_floor remove_lanes start_sweep start_tick
    sweep
"""
OF_A_QUEUE = "first_due why_dispatcher why_earliest why_pace why_served"
FILTERS = (
    "queue kind key group priority headers version tenant since until finished_since finished_until finished states"
    " result_dropped"
)
SEARCH = {"filter": '{"cause": "E: #"}', "batch": None, "most": 20_000} | dict.fromkeys(
    ["finished_since", "finished_until"]
)

BOUNDED = {"queue": None, "limit": 1000}


def of_the_console(window: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of the statements that only the console's API runs."""
    of_all = {"queue": None, "kind": None}
    history = {"since": window["since"], "now": window["until"], "step": 900}
    return {
        "count_minutes": {"now": window["until"] + timedelta(minutes=30)},
        "prune_history": {"now": None},
        "history": history | {"queue": None, "uncounted": None},
        "attention_dispatcher": {"offered": 1000},
        "late_jobs": {"period": timedelta(minutes=2), "unfinished": 10_000},
        "why_failing": {"queue": "default", "unfinished": 2000},
        "failing_kinds": {"since": window["since"], "dead": 1001, "unfinished": 2000},
        "failures_by_cause": window | of_all,
        "search_jobs": SEARCH | {"finished": None, "before": None, "limit": 51},
        "search_dead": SEARCH | {"before": None, "limit": 51},
        "depths": BOUNDED | {"since": window["since"]},
        "newest_depths": BOUNDED | {"since": window["since"]},
        "count_states": SEARCH | {"most": 10_000, "finished": None, "only_dead": False},
    }


def of_batches(batch: UUID) -> dict[str, dict[str, Any]]:
    page = {"batch": batch, "after": UUID(int=0), "limit": 1000}
    return {
        "open_batch": dict.fromkeys(["parent", "on_complete", "on_failure", "tenant", "name"]),
        "close_batch": {"id": batch},
        "get_batches": {"ids": [batch]},
        "find_batches": {"low": batch, "high": batch},
        "near_batches": {"ids": [batch], "lows": [batch], "highs": [batch]},
        "callbacks_of": {"batches": [batch]},
        "list_batches": {"parent": None, "before": None, "limit": 50},
        "unfinished_of_batch": page | {"running": True},
        "failed_of_batch": page,
        "open_in_batch": {"batch": batch},
    }
