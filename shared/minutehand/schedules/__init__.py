"""Schedules: what is enqueued again and again, by a clock and a time zone, and what became of each of its moments.

    from minutehand import NewJob, schedules

    schedules.save(database, schedules.Schedule("report", "0 8 * * mon", NewJob("report"), zone="Europe/Berlin"))

`schedule` is the value, `plan` decides which moments fire, `fire` writes them down, and is called by every tick;
`manage` is for people, `install` for code that declares its schedules.
"""

from minutehand.schedules.install import Installed, install, load
from minutehand.schedules.manage import (
    Firing,
    firings,
    get,
    list_schedules,
    pause,
    put,
    remove,
    resume,
    run_now,
)
from minutehand.schedules.schedule import Moment, Schedule, StoredSchedule, check, preview

__all__ = [
    "Firing",
    "Installed",
    "Moment",
    "Schedule",
    "StoredSchedule",
    "check",
    "firings",
    "get",
    "install",
    "list_schedules",
    "load",
    "pause",
    "preview",
    "put",
    "remove",
    "resume",
    "run_now",
]
