"""A database after some days of work: finished, due and scheduled jobs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from backlog_live import DEFAULTS, of_the_command_line
from backlog_rows import (
    ATTEMPTS,
    CLAIM_OR_OFFER,
    DAYS,
    DUE,
    EVENTS,
    FINISHED,
    FIRING,
    FIRINGS,
    LANES,
    SCHEDULED,
    SCHEDULES,
)
from backlog_values import (
    AT_A_TIME,
    ATTEMPT,
    ATTEMPTS_OF_A_WORKER,
    FILTERS,
    FINISHES,
    JOB_OPTIONS,
    OF_A_QUEUE,
    OF_LIMITS,
    TAKES,
    of_batches,
    of_the_console,
)

from minutehand.database import Connection
from minutehand.model.control import LIMITING


def fill(connection: Connection, *, finished: int, due: int, scheduled: int) -> None:
    """Insert rows in sets, and update the statistics of the planner."""
    for ago in range(1, 6):
        connection.execute(DAYS, {"ago": ago})
    connection.execute(FINISHED, {"count": finished})
    connection.execute(ATTEMPTS, {"count": finished // 10})
    connection.execute(EVENTS, {"count": min(finished, 100_000)})
    connection.execute(SCHEDULES)
    connection.execute(FIRINGS, {"count": finished // 10})
    connection.execute("alter table minutehand.jobs_live disable trigger user")
    connection.execute(DUE, {"count": due})
    connection.execute(SCHEDULED, {"count": scheduled})
    connection.execute("alter table minutehand.jobs_live enable trigger user")
    with connection.transaction():
        # Otherwise vacuum marks no page as all-visible.
        connection.execute("set local synchronous_commit = on")
        connection.execute(LANES)
    for table in ("jobs", "jobs_live", "attempts", "events", "schedules", "firings"):
        connection.execute(f"vacuum analyze minutehand.{table}")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stock:
    """Some of the jobs: 20 claimed, 20 offered, 50 due and 10 dead."""

    claimed: dict[UUID, UUID]
    offered: dict[UUID, UUID]
    due: list[UUID]
    dead: list[UUID]
    batch: UUID

    @classmethod
    def of(cls, connection: Connection) -> "Stock":
        claimed = dict(connection.execute(CLAIM_OR_OFFER, {"claimed": True}).fetchall())
        offered = dict(connection.execute(CLAIM_OR_OFFER, {"claimed": False}).fetchall())
        due = connection.execute(
            "select id from minutehand.jobs_live where visible <= now() limit 50 offset 500"
        )
        dead = connection.execute("select id from minutehand.jobs_done where failed limit 10")
        (batch,) = connection.execute("select minutehand.open_batch()").fetchone() or (None,)
        assert batch is not None
        return cls(claimed, offered, [row[0] for row in due], [row[0] for row in dead], batch)

    def parameters(self, name: str) -> dict[str, Any]:
        """Return the parameters of a statement."""
        (job_id, ack), *_ = self.claimed.items()
        claim, claims = {"id": job_id, "ack": ack}, {"ids": [job_id], "acks": [ack]}
        lease = {"lease": timedelta(minutes=5), "grace": timedelta(seconds=2)}
        some = {"ids": self.due[:10]}
        named = {"tenant": "", "queue": "other", "kind": "", "key": "", "group": "", "per": ""}
        old = {"before": datetime.now(UTC) - timedelta(days=2), "queue": None, "kind": None, "states": None}
        job = dict.fromkeys(JOB_OPTIONS)
        window = {"since": datetime.now(UTC) - timedelta(days=1), "until": datetime.now(UTC)}
        which = window | {"queue": None, "kind": None, "by_kind": True}
        filters = dict.fromkeys(FILTERS.split())
        known: dict[str, dict[str, Any]] = {
            "as_tenant": {"tenant": "small"},
            "leave_tenant": {"tenant": "", "role": "none"},
            "list_attempts": {"job": self.dead[0], "after": None, "limit": 1000},
            "list_unclaimed": {"job": self.dead[0]},
            "replace_payloads": some | {"former": ["1"] * 10, "payloads": ["2"] * 10},
            "replace_schedule_payload": {"tenant": "", "schedule": "none", "former": "1", "payload": "2"},
            "outdated_payloads": {"name": "k", "after": UUID(int=0), "queue": None, "limit": 500},
            "encrypted_payloads": some,
            "outdated_schedules": {"name": "k"},
            "durations": which,
            "finished_work": window | {"longest": 900.0, "capacity": 50, "chunk": 1, "together": 100},
            "dispatcher_usage": {"since": window["since"]},
            "usage": window | {"overhead_ms": 15.0},
            "failures": which,
            "get_by_key": {"queue": "default", "key": "key/none", "tenant": ""},
            "histogram": which
            | {"by": "hour", "step": timedelta(minutes=15), "zone": "Europe/Berlin", "each": "queue"},
            "set_keep_until_archived": {"keep": True},
            "store_events": {"events": '[{"id": "0198a5b0-0000-7000-8000-000000000001", "name": "done"}]'},
            "list_events": {
                "since": None,
                "names": ["dead"],
                "queue": None,
                "kind": None,
                "job": None,
                "limit": 50,
            },
            "list_newer_jobs": filters | {"after": None, "limit": 51},
            "count_jobs": filters | {"first": None, "finished_since": window["since"], "finished": True},
            "set_retention": {"queue": "", "categories": ["done"], "keeps": [timedelta(days=30)]},
            "stats": which,
            "today": {"zone": "UTC"},
            "due_schedules": {"now": None, "limit": 100},
            "read_due_schedules": {"tenants": [""], "names": ["schedule 7"], "now": datetime.now(UTC)},
            "set_schedules_aside": {
                "errors": '[{"tenant": "", "name": "schedule 7", "error": {}}]',
                "now": datetime.now(UTC),
                "retry": timedelta(hours=1),
            },
            "fire": {"firings": FIRING, "lock_wait": 1000},
            "fire_now": {"name": "schedule 7", "moment": datetime.now(UTC), "key": None},
            "advance_schedules": {
                "moves": '[{"tenant": "", "name": "schedule 7", "next": "2030-01-01", "wake": "2030-01-01"}]'
            },
            "prune_firings": {"now": None, "keep": timedelta(days=60), "limit": 1000},
            "get_schedule": {"name": "schedule 7"},
            "list_schedules": {"source": None, "limit": 100, "after_tenant": "", "after_name": "schedule 5"},
            **OF_LIMITS,
            "list_queues": {"after": "m", "limit": 100},
            "list_controls": {"after": None, "limit": 100},
            "list_firings": {"name": "schedule 7", "before": None, "limit": 50},
            "pause_schedule": {"name": "schedule 7", "paused": True, "next": None, "wake": None},
            "delete_schedule": {"name": "schedule 7"},
            "withdraw_ahead": {"name": "schedule 7", "now": datetime.now(UTC)},
            "save_schedule": dict.fromkeys(["starts", "ends", "source", "hash", "next", "wake"], None)
            | {"name": "schedule 7", "every": "@daily", "zone": "UTC", "jitter": timedelta()}
            | {"ahead": timedelta(), "max_catch_up": 1}
            | {"catch_up": "none", "overlap": "allow", "job": '{"kind": "echo"}'},
            "adjust_budgets": {"capacity": 70},
            "reap": {"now": None, "limit": 1000, "ids": [], "nexts": [], "lock_wait": 1000},
            "expire": {"now": None, "limit": 1000, "ids": [], "nexts": [], "lock_wait": 1000},
            "cancel": some | {"reason": "on request"},
            "claim": lease | {"ids": list(self.offered), "acks": list(self.offered.values())},
            "count_due": {"now": None, "limit": 1000},
            "enqueue": job | {"kind": "echo", "payload": "1", "key": "key/77", "on_conflict": "replace"},
            "enqueue_plain": job | {"kind": "echo", "payload": "1"},
            "enqueue_alike": {
                "options": '{"kind": "echo"}',
                "payloads": "[1]",
                "offsets": "{0}",
                "ids": f"{{{uuid4()}}}",
            }
            | {"run_ats": None, "delays": None, "since": None},
            "enqueue_incoming": {"load": uuid4(), "on_conflict": "replace"},
            **{name: {"after": self.due[0], "limit": 50} for name in ("count_enqueued", "list_enqueued")},
            "extend": claims | {"leases": [timedelta(minutes=5)]},
            **dict.fromkeys(FINISHES, claims | ATTEMPTS_OF_A_WORKER | {"nexts": None}),
            "get": {"id": self.dead[0]},
            "release": claims | ATTEMPTS_OF_A_WORKER | {"delays": [timedelta(minutes=1)], "refunds": [0]},
            "list_jobs": filters | {"before": None, "limit": 51},
            "offer_now": {"ids": self.due[:1], "next": None, "others": False},
            "withdraw_now": {"ids": list(self.offered), "acks": list(self.offered.values())},
            "begin_wait": {"waiter": uuid4(), "lasts": timedelta(minutes=1), "scheduled": True},
            "poll": {"waiter": uuid4(), "lasts": timedelta(minutes=1), "capacity": 70},
            "offer": {
                "now": None,
                "capacity": 70,
                "queues": ["other"],
                "budgets": [35],
                "ttl": timedelta(minutes=2),
            },
            "promote": some,
            "delete_finished": old | {"limit": 100},
            "count_finished": old,
            "reschedule": some | {"run_at": datetime.now(UTC), "delay": None},
            "retry": {"ids": self.dead, "delays": [timedelta()] * len(self.dead)},
            "list_audit": dict.fromkeys(["actor", "verb", "before"]) | {"job": self.dead[0], "limit": 50},
            "record_audit": {
                "actor": "ada",
                "verb": "cancel",
                "jobs": self.due[:10],
                "facts": ["{}"] * 10,
                "tenants": [],
            },
            "cancel_lapsed": {"now": None, "limit": 1000},
            "cancel_running": {"ids": list(self.claimed)[:10], "reason": "on request"},
            "check_claim": claim,
            "set_pause": named | {"until": None, "reason": None},
            "set_limit": named | dict.fromkeys([*LIMITING, "reason"]) | {"limit": 1},
            "unblock_group": {"queue": "default", "tenant": "", "group": "a"},
            "set_share": {"tenant": "small", "queue": "other", "weight": 3},
            "end_share": {"tenant": "small", "queue": "other"},
            "list_shares": {"after": None, "limit": 100},
            "end_control": named | {"pause": True, "limit": False},
            "recall_offers": named,
            "delete_upcoming": {"queue": "default", "limit": 100},
            "count_upcoming": {"queue": "default"},
            "edit": some
            | {"fields": ["priority"], "priority": 7}
            | dict.fromkeys(["payload", "headers", "max_attempts", "retry", "timeout", "expires", "on_dead"]),
            "delete": some,
            **of_the_command_line(self.due, which),
            "replay": {"ids": self.dead, "max_attempts": 1, "window": timedelta(), "suffix": ""},
            "free_keys": {"now": None},
            **DEFAULTS,
            "ending_recurring": {"now": None, "limit": 1000},
            "get_states": {"ids": self.due},
            "get_listed": {"ids": self.due + self.dead},
            **of_the_console(window),
            **of_batches(self.batch),
            **{name: {} for name in ("has_checks", "may_change", "stored_mode")},
            "why_awaited": {"id": self.due[0]},
            **{f"check_{what}": {"limit": 100} for what in ("batches", "predecessors")},
            "supersede": claim | ATTEMPT | {"reason": None, "ending": "retrying", "hold": None},
            "settle": claim | {"ended": datetime.now(UTC), "result": "1", "error": '{"type": "E"}'},
            "get_unfinished": {"id": job_id},
            **{each: {"now": None} for each in AT_A_TIME.split()},
            **{each: {"queue": "default"} for each in OF_A_QUEUE.split()},
            "advance_settled": {"now": None, "pause": timedelta()},
            **dict.fromkeys(["why_actor", "why_controls"], named),
            "why_line": {"queue": "default", "id": self.due[0], "priority": 5, "limit": 10_000}
            | {"visible": datetime.now(UTC)},
            "withdraw": {"ids": list(self.offered), "acks": list(self.offered.values())},
            "first_visible": {"ids": self.due, "retried": True},
            "note_wakeup": {"error": "AccessDeniedException"},
            "note_mode": {"mode": "sleep"},
            "note_watch": {"name": "watch-1", "at": datetime.now(UTC)},
            **{name: lease | more for name, more in TAKES.items()},
            "end_tick": {"capacity": 70, "ttl": timedelta(minutes=2), "now": None, "offers": 0, "room": None},
            "record_times": {"kinds": ["echo"], "seconds": [0.5], "invocation": 60.0},
            "kind_times": {"kinds": ["echo"]},
            "record_usage": dict.fromkeys(["memory_mb", "ran_ms", "waited_ms", "capacity", "chunk"], 1)
            | {"mode": "minute", "scheduled": True, "cold": False},
        }
        return known.get(name, {})
