"""Declared: what this installation enqueues again and again; the first tick after a deploy makes the table say so.

    SCHEDULES = [
        Schedule("report", "0 8 * * mon", NewJob("report", {"weeks": 1}), zone="Europe/Berlin"),
        Schedule("clean", "PT6H", NewJob("clean"), catch_up="last", overlap="skip"),
    ]

What is declared as before keeps its next moment, and what is declared no more is removed. `from minutehand import
NewJob` and `from minutehand.schedules import Schedule` bring in what this needs.
"""

SCHEDULES = []  # type: ignore[var-annotated]
