"""Control: a queue, a kind, a key or a tenant is paused or limited, for every dispatcher and worker at once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError
from minutehand.events.publish import publish
from minutehand.model.event import Event, Name
from minutehand.model.new_job import check_moment
from minutehand.operations import audit
from minutehand.queries.jobs import Row

NAMES = ("queue", "kind", "key", "tenant")


@dataclass(frozen=True, kw_only=True)
class Control:
    """What is paused (until a moment, or until it is resumed) or limited to `most` jobs offered or running at once.

    '' is any: a control with a queue and a kind is about the jobs of that kind in that queue.
    """

    queue: str = ""
    kind: str = ""
    key: str = ""
    tenant: str = ""
    paused: bool = False
    most: int | None = None
    until: datetime | None = None
    why: str | None = None
    changed: datetime | None = None
    busy: int | None = None

    @property
    def told(self) -> str:
        """What it is about, in words: `queue mail, kind invoice`."""
        return ", ".join(f"{name} {getattr(self, name)}" for name in NAMES if getattr(self, name))

    def concerns(self, row: Row) -> bool:
        """Whether a job is one of those."""
        return all(getattr(self, name) in ("", getattr(row, name)) for name in NAMES)


def pause(
    database: Database, *, queue: str = "", kind: str = "", key: str = "", tenant: str = "",
    until: datetime | None = None, why: str | None = None, who: str | None = None,
) -> Control:  # fmt: skip
    """Offer and take no more of these jobs, until a moment or until they are resumed; what runs runs to its end.

    Offers that nobody has claimed yet are taken back in the same transaction, while no tick offers anything: once
    this returns, no invitation to these jobs is good.
    """
    named = _named(queue, kind, key, tenant)
    told = {**named, "until": check_moment(until), "why": why}

    def change() -> Record:
        with database.transaction():
            database.run("hold")
            (record,) = database.run("control", **told, paused=True, most=None)
            recalled = len(database.run("recall", **named))
            audit.record(database, "pause", who, **told, recalled=recalled)
        return record

    control = Control(**database.again(change))
    publish(database, [_event("paused", control, who)])
    return control


def resume(
    database: Database, *, queue: str = "", kind: str = "", key: str = "", tenant: str = "", who: str | None = None
) -> bool:  # fmt: skip
    """End a pause, said by the same names; return whether there was one."""
    was = _end(database, "resume", _named(queue, kind, key, tenant), who, pause=True)
    publish(database, [_event("resumed", each, who) for each in was])
    return bool(was)


def limit(
    database: Database, most: int, *, queue: str = "", kind: str = "", key: str = "", tenant: str = "",
    why: str | None = None, who: str | None = None,
) -> Control:  # fmt: skip
    """Have at most so many of these jobs offered or running at once, whoever offers or takes them; never more.

    What runs already runs to its end. A worker that overruns its lease is not counted, as it is not for capacity.
    """
    if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most < 2**31:
        raise InvalidJobError("most_is_at_least_0", "most must be an integer, 0 or more")
    told = {**_named(queue, kind, key, tenant), "most": most, "why": why}

    def change() -> Record:
        with database.transaction():
            (record,) = database.run("control", **told, paused=None, until=None)
            audit.record(database, "limit", who, **told)
        return record

    return Control(**database.again(change))


def unlimit(
    database: Database, *, queue: str = "", kind: str = "", key: str = "", tenant: str = "", who: str | None = None
) -> bool:  # fmt: skip
    """End a limit, said by the same names; return whether there was one."""
    return bool(_end(database, "unlimit", _named(queue, kind, key, tenant), who, limit=True))


def list_controls(database: Database) -> list[Control]:
    """Return what is paused or limited now, and how many jobs of each are offered or running."""
    return [Control(**record) for record in database.run("controls")]


def _named(queue: str, kind: str, key: str, tenant: str) -> dict[str, Any]:
    named = {"queue": queue or "", "kind": kind or "", "key": key or "", "tenant": tenant or ""}
    if not any(named.values()):
        raise InvalidJobError("control_is_named", "say which queue, kind, key or tenant")
    return named


def _end(
    database: Database,
    verb: str,
    named: dict[str, Any],
    who: str | None,
    *,
    pause: bool = False,
    limit: bool = False,
) -> list[Control]:
    def change() -> list[Record]:
        with database.transaction():
            records = database.run("uncontrol", **named, pause=pause, limit=limit)
            for record in records:
                was = {"was_most": record["most"]} if limit else {"was_until": record["until"]}
                audit.record(database, verb, who, **named, **was)
        return records

    return [Control(**record) for record in database.again(change)]


def _event(name: Name, control: Control, who: str | None) -> Event:
    facts = {"until": control.until, "why": control.why, "who": who}
    return Event(
        name=name, queue=control.queue or None, kind=control.kind or None, key=control.key or None,
        tenant=control.tenant, facts={name: value for name, value in facts.items() if value is not None},
    )  # fmt: skip
