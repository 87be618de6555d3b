"""Install: write the schedules that code declares, and remove those that it no longer declares."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module

from minutehand.database import Database
from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.schedules.manage import clock, delete_stored, write
from minutehand.schedules.schedule import Schedule, check

SOURCE = "code"


@dataclass(frozen=True)
class Installed:
    """The names of the schedules that were added, changed, unchanged and removed."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


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
    start. Schedules that are no longer declared are deleted. `version` is the version of the code: `@reboot` fires at
    the first installation and whenever the version changes. Raises InvalidJobError if a name is used by a schedule of
    another source.
    """
    declared = _by_name(schedules)
    with database.transaction():
        database.run("lock_installation")
        now = now or clock(database)
        existing = {record["name"]: record for record in database.run("list_installed")}
        own = {name: record for name, record in existing.items() if record["source"] == source}
        _refuse_others(set(declared) & (set(existing) - set(own)), source)
        names: dict[str, list[str]] = {"added": [], "changed": [], "unchanged": []}
        for name, schedule in declared.items():
            hash = schedule.digest(version)
            outcome = "added" if name not in own else "unchanged" if own[name]["hash"] == hash else "changed"
            if outcome != "unchanged":
                write(database, schedule, now, source=source, hash=hash)
            names[outcome].append(name)
        removed = sorted(set(own) - set(declared))
        for name in removed:
            delete_stored(database, name, now)
    return Installed(**{outcome: tuple(each) for outcome, each in names.items()}, removed=tuple(removed))


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


def _refuse_others(names: set[str], source: str) -> None:
    if names:
        name = min(names)
        raise InvalidJobError(
            "schedule_is_own",
            f"schedule {name!r} exists and was not installed by {source!r}; remove it, or rename yours",
        )
