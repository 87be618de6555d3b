"""A database as it is after some days of work: a million finished jobs, and as many due and scheduled as wanted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from minutehand.database import Connection

DAYS = """select minutehand.make_days(0, (now() at time zone 'UTC')::date - %(ago)s::integer)"""
FINISHED = """
insert into minutehand.jobs_done (id, kind, run_at, visible, enqueued, deleted, failed, attempts)
select gen_random_uuid(), 'echo', moment, moment, moment, moment, n %% 100 = 0, 1
  from (select n, date_trunc('day', now()) - n * interval '0.3 seconds' as moment
          from generate_series(1, %(most)s) n) made
"""
LANES = "insert into minutehand.lanes (queue, priority) values ('default', 5), ('other', 5)"
DUE = """
insert into minutehand.jobs_live (queue, kind, key, run_at, visible)
select case when n %% 10 = 0 then 'other' else 'default' end, 'echo', 'key/' || n, moment, moment
  from (select n, now() - n * interval '0.1 seconds' as moment from generate_series(1, %(most)s) n) made
"""
SCHEDULED = """
insert into minutehand.jobs_live (kind, run_at, visible)
select 'echo', moment, moment
  from (select now() + n * interval '10 seconds' as moment from generate_series(1, %(most)s) n) made
"""
GIVEN = """
update minutehand.jobs_live
   set ack = gen_random_uuid(), offered = now(), claimed = case when %(claimed)s then now() end,
       attempts = %(claimed)s::integer, visible = now() + interval '5 minutes'
 where id in (select id from minutehand.jobs_live where visible <= now() limit 20)
returning id, ack
"""


def fill(connection: Connection, *, finished: int, due: int, scheduled: int) -> None:
    """Write the rows set by set, as no enqueuer could, and say to the planner what there is."""
    for ago in range(1, 6):
        connection.execute(DAYS, {"ago": ago})
    connection.execute(FINISHED, {"most": finished})
    connection.execute("alter table minutehand.jobs_live disable trigger user")
    connection.execute(DUE, {"most": due})
    connection.execute(SCHEDULED, {"most": scheduled})
    connection.execute("alter table minutehand.jobs_live enable trigger user")
    with connection.transaction():
        connection.execute("set local synchronous_commit = on")  # or vacuum takes no row for visible to all
        connection.execute(LANES)
    for table in ("jobs", "jobs_live"):
        connection.execute(f"vacuum analyze minutehand.{table}")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stock:
    """Some of the rows: 20 claimed, 20 offered, 50 in the midst of what is due, 10 dead."""

    claimed: dict[UUID, UUID]
    offered: dict[UUID, UUID]
    due: list[UUID]
    dead: list[UUID]

    @classmethod
    def of(cls, connection: Connection) -> "Stock":
        claimed = dict(connection.execute(GIVEN, {"claimed": True}).fetchall())
        offered = dict(connection.execute(GIVEN, {"claimed": False}).fetchall())
        due = connection.execute(
            "select id from minutehand.jobs_live where visible <= now() limit 50 offset 500"
        )
        dead = connection.execute("select id from minutehand.jobs_done where failed limit 10")
        return cls(claimed, offered, [row[0] for row in due], [row[0] for row in dead])

    def parameters(self, name: str) -> dict[str, Any]:
        """What a statement is run with."""
        (job_id, ack), *_ = self.claimed.items()
        mine = {"id": job_id, "ack": ack}
        lease = {"lease": timedelta(minutes=5), "grace": timedelta(seconds=2)}
        some = {"ids": self.due[:10]}
        old = {"before": datetime.now(UTC) - timedelta(days=2), "queue": None, "kind": None, "states": None}
        job = dict.fromkeys(
            ["queue", "run_at", "delay", "priority", "max_attempts", "retry", "timeout", "headers"]
        )
        known: dict[str, dict[str, Any]] = {
            "budget": {"capacity": 70},
            "bury": {"now": None, "most": 1000},
            "cancel": some | {"reason": "by hand"},
            "claim": lease | {"ids": list(self.offered), "acks": list(self.offered.values())},
            "count": {"now": None, "most": 1000},
            "enqueue": job | {"kind": "echo", "payload": "1", "key": "key/77", "on_conflict": "replace"},
            "enqueue_incoming": {"load": uuid4(), "on_conflict": "replace"},
            "enqueued_since": {"after": self.due[0], "most": 50},
            "extend": mine | {"lease": timedelta(minutes=5)},
            "finish": mine | {"failed": False, "cancelled": False, "result": None, "error": None},
            "get": {"id": self.dead[0]},
            "give_back": mine | {"delay": timedelta(minutes=1), "refund": 0, "error": None},
            "list": dict.fromkeys(["before", "queue", "kind", "key", "finished", "states"]) | {"most": 51},
            "lock": {"now": None},
            "migration_applied": {"version": 9999, "name": "none", "checksum": "none"},
            "offer": {
                "now": None,
                "capacity": 70,
                "queues": ["other"],
                "budgets": [35],
                "ttl": timedelta(minutes=2),
            },
            "promote": some,
            "purge": old | {"most": 100},
            "purgeable": old,
            "raise_floor": {"now": None},
            "reschedule": some | {"run_at": datetime.now(UTC), "delay": None},
            "retry": {"ids": self.dead},
            "set_defaults": dict.fromkeys(["queue", "priority", "max_attempts", "timeout", "retry"], None)
            | {"kind": "echo"},
            "states": {"ids": self.due},
            "supersede": {**mine, "why": None},
            "sweep": {"now": None},
            "swept": {"now": None},
            "withdraw": {"ids": list(self.offered), "acks": list(self.offered.values())},
            "take": lease | {"queue": "default", "most": 10, "now": None},
        }
        return known.get(name, {})
