"""The schedules of this installation. The first tick after a deploy installs them.

    SCHEDULES = [
        Schedule("report", "0 8 * * mon", NewJob("report", {"weeks": 1}), zone="Europe/Berlin"),
        Schedule("clean", "PT6H", NewJob("clean"), catch_up="last", overlap="skip"),
    ]

An unchanged schedule keeps its next occurrence. A schedule that is no longer declared is removed. The example needs
`from minutehand import NewJob` and `from minutehand.schedules import Schedule`.
"""

SCHEDULES = []  # type: ignore[var-annotated]
