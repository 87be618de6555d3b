"""Schedules: enqueue a job whenever a recurrence is due, in a time zone, and record what happened at each occurrence.

    from minutehand import NewJob, schedules

    schedules.save(database, schedules.Schedule("report", "0 8 * * mon", NewJob("report"), zone="Europe/Berlin"))

`schedule` is the value. `plan` decides which occurrences fire. `fire` records them and enqueues jobs; every tick
calls it.
`manage` contains the operations of people, `install` those of code that declares its schedules.
"""

from minutehand.schedules.install import Installed, install, load
from minutehand.schedules.manage import (
    Firing,
    get,
    list_firings,
    list_schedules,
    pause,
    remove,
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
    "get",
    "install",
    "list_firings",
    "list_schedules",
    "load",
    "pause",
    "preview",
    "remove",
    "resume",
    "run_now",
    "save",
]
