"""Recur: from the moment that an occurrence stood for, the one that the next will stand for."""

from datetime import datetime

from minutehand.errors import InvalidJobError
from minutehand.model.outcome import Error

LAST_YEAR = 9999  # the calendar of the database ends in it


def next_of(
    every: str, zone: str | None, nominal: datetime, now: datetime
) -> tuple[datetime | None, Error | None]:
    """Return the next nominal moment, past what was missed meanwhile; or why there is none any more.

    It counts from the nominal moment and never from when the job ran. What does not recur (SQL may write anything)
    must not keep a job from being finished.
    """
    from minutehand.model.recurrence import next_after  # here, for the few that recur

    try:
        following = next_after(every, zone, max(nominal, now), anchor=nominal)
    except InvalidJobError as error:
        return None, {"type": "RecurrenceError", "message": f"it recurs no more: {error}"}
    return (None if following is None or following.year >= LAST_YEAR else following), None


def merge_errors(error: Error | None, fault: Error | None) -> Error | None:
    """Return an attempt's error with the fault of its recurrence, which hides no other."""
    if error is None or fault is None:
        return error or fault
    return {**error, "message": f"{error['message']}; {fault['message']}"}
