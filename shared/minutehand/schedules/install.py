"""Install: the schedules that code declares become those of the table, and what is not declared any more goes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module

from minutehand.database import Database
from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.schedules.manage import clock, drop, write
from minutehand.schedules.schedule import Schedule, check

SOURCE = "code"


@dataclass(frozen=True)
class Installed:
    """The names of the schedules that are new, changed, kept as they were, and removed."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def install(
    database: Database, schedules: Iterable[Schedule], source: str = SOURCE, *, version: str | None = None,
    now: datetime | None = None,
) -> Installed:  # fmt: skip
    """Make the schedules of a source exactly these, in one transaction.

    What is declared as before is kept with its next moment, and paused if it was; so every instance may install, at
    every start. What is declared no more is removed. `version` is that of the code: with another one, and at the first
    time, `@reboot` fires. A schedule of that name which was put by hand, or is another source's, is refused.
    """
    declared = _by_name(schedules)
    with database.transaction():
        database.run("lock_schedules")
        now = now or clock(database)
        there = {record["name"]: record for record in database.run("list_schedules", source=None, own=True)}
        own = {name: record for name, record in there.items() if record["source"] == source}
        _refuse_others(set(declared) & (set(there) - set(own)), source)
        done: dict[str, list[str]] = {"added": [], "changed": [], "kept": []}
        for name, schedule in declared.items():
            hash = schedule.digest(version)
            fate = "added" if name not in own else "kept" if own[name]["hash"] == hash else "changed"
            if fate != "kept":
                write(database, schedule, now, source=source, hash=hash)
            done[fate].append(name)
        removed = sorted(set(own) - set(declared))
        for name in removed:
            drop(database, name, now)
    return Installed(**{fate: tuple(names) for fate, names in done.items()}, removed=tuple(removed))


def load(place: str) -> list[Schedule]:
    """Return the schedules that `module:NAME` holds; the name is SCHEDULES unless it is said."""
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name or "SCHEDULES")
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"no schedules are found at {place}: {error}") from None
    schedules = list(found) if isinstance(found, (list, tuple)) else [found]
    if strangers := [each for each in schedules if not isinstance(each, Schedule)]:
        raise ConfigurationError(f"{place} holds what is no Schedule: {type(strangers[0]).__name__}")
    return schedules


def _by_name(schedules: Iterable[Schedule]) -> dict[str, Schedule]:
    declared: dict[str, Schedule] = {}
    for schedule in schedules:
        check(schedule, code=True)
        if schedule.name in declared:
            raise InvalidJobError("schedule_is_named", f"two schedules are called {schedule.name!r}")
        declared[schedule.name] = schedule
    return declared


def _refuse_others(names: set[str], source: str) -> None:
    if names:
        name = min(names)
        raise InvalidJobError(
            "schedule_is_own",
            f"the schedule {name!r} was not installed by {source!r}; remove it, or rename yours",
        )
