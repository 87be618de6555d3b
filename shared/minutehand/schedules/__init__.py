"""Schedules: enqueue a job whenever a recurrence is due, in a time zone, and record what happened at each occurrence.

    from minutehand import NewJob, schedules

    schedules.save(database, schedules.Schedule("report", "0 8 * * mon", NewJob("report"), zone="Europe/Berlin"))

`schedule` is the value. `plan` decides which occurrences fire. `fire` records them and enqueues jobs; every tick
calls it.
`manage` contains the operations of people, `installation` those of code that declares its schedules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutehand.schedules.installation import Installed, install, load
    from minutehand.schedules.manage import (
        Firing,
        delete,
        get,
        list_firings,
        list_schedules,
        pause,
        resume,
        run_now,
        save,
    )
    from minutehand.schedules.schedule import Occurrence, Schedule, StoredSchedule, check, preview

__all__ = [
    "Firing",
    "Installed",
    "Occurrence",
    "Schedule",
    "StoredSchedule",
    "check",
    "delete",
    "get",
    "install",
    "list_firings",
    "list_schedules",
    "load",
    "pause",
    "preview",
    "resume",
    "run_now",
    "save",
]
# Imported when they are used: every tick imports this package, and few ticks fire a schedule.
_NAMES = {
    "installation": ("Installed", "install", "load"),
    "manage": (
        "Firing",
        "delete",
        "get",
        "list_firings",
        "list_schedules",
        "pause",
        "resume",
        "run_now",
        "save",
    ),
    "schedule": ("Occurrence", "Schedule", "StoredSchedule", "check", "preview"),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
