"""Install: write the schedules that code declares, and remove those that it no longer declares."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from minutehand.database import Database, Record
from minutehand.errors import ConfigurationError, ForbiddenError, InvalidJobError
from minutehand.schedules.manage import clock, delete_stored, note, write
from minutehand.schedules.schedule import Schedule, check

SOURCE = "code"


@dataclass(frozen=True)
class Installed:
    """The names of the schedules that were added, changed, unchanged and removed.

    `refused` are names of declared schedules that exist and are not of this source. Those stay as they are.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def install(
    database: Database,
    schedules: Iterable[Schedule],
    source: str = SOURCE,
    *,
    version: str | None = None,
    now: datetime | None = None,
) -> Installed:
    """Replace all schedules of a source with these, in one transaction.

    An unchanged schedule keeps its next occurrence and stays paused if it was; so every instance may install at every
    start. Schedules that are no longer declared are deleted. A schedule is not installed if there is one of the same
    name that is not of this source. `version` is the version of the code: `@reboot` fires at the first installation and
    whenever the version changes. If the role may write to the audit trail, each change is there, with the source as
    its actor. Raises InvalidJobError, and changes nothing, if a schedule is invalid or a name is declared twice.
    """
    declared = _by_name(schedules)
    with database.transaction():
        database.run("lock_installation")
        now = now or clock(database)
        existing = {record["name"]: record for record in database.run("list_installed")}
        own = {name: record for name, record in existing.items() if record["source"] == source}
        names: dict[str, list[str]] = {"added": [], "changed": [], "unchanged": [], "refused": []}
        for name, schedule in declared.items():
            hash = schedule.digest(version)
            outcome = _outcome(name, hash, existing, source)
            if outcome in ("added", "changed"):
                write(database, schedule, now, source=source, hash=hash)
                _note(database, "put", source, name, every=schedule.recurrence, zone=schedule.zone)
            names[outcome].append(name)
        removed = sorted(set(own) - set(declared))
        for name in removed:
            delete_stored(database, name, now)
            _note(database, "delete", source, name)
    return Installed(**{outcome: tuple(each) for outcome, each in names.items()}, removed=tuple(removed))


def _note(database: Database, verb: str, source: str, name: str, **facts: Any) -> None:
    """Write an entry to the audit trail if the role may: that of a dispatcher need not be an operator."""
    with suppress(ForbiddenError), database.transaction():
        note(database, verb, source, name, **facts)


def _outcome(name: str, hash: str, existing: Mapping[str, Record], source: str) -> str:
    if name not in existing:
        return "added"
    if existing[name]["source"] != source:
        return "refused"
    return "unchanged" if existing[name]["hash"] == hash else "changed"


def load(place: str) -> list[Schedule]:
    """Return the schedules in `module:NAME`; the default name is SCHEDULES."""
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name or "SCHEDULES")
    except (ImportError, AttributeError, SyntaxError) as error:
        # Imported only when used, for the sake of cold starts.
        from minutehand.model.loading import reason

        raise ConfigurationError(
            f"schedules could not be loaded from {place}: {reason(error, module)}"
        ) from None
    schedules = list(found) if isinstance(found, (list, tuple)) else [found]
    if others := [each for each in schedules if not isinstance(each, Schedule)]:
        raise ConfigurationError(
            f"{place} must contain only Schedule objects, got {type(others[0]).__name__}"
        )
    return schedules


def _by_name(schedules: Iterable[Schedule]) -> dict[str, Schedule]:
    declared: dict[str, Schedule] = {}
    for schedule in schedules:
        check(schedule, code=True)
        if schedule.name in declared:
            raise InvalidJobError("schedule_is_named", f"the schedule name {schedule.name!r} is used twice")
        declared[schedule.name] = schedule
    return declared
