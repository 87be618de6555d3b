"""Occurrence: the nominal time of a recurring job's next run."""

from datetime import datetime

from minutehand.model.outcome import Error

# The database's calendar ends in it.
LAST_YEAR = 9999


def next_of(
    every: str, zone: str | None, nominal: datetime, now: datetime
) -> tuple[datetime | None, Error | None]:
    """Return the next nominal time, skipping missed ones, or the reason why there is none.

    It counts from the nominal time, never from the time of the run. An invalid recurrence, which SQL can write, must
    not prevent the job from being finished.
    """
    # Imported only when used, for the sake of cold starts.
    from minutehand.model.recurrence import next_after

    try:
        following = next_after(every, zone, max(nominal, now), anchor=nominal)
    # Any error, since SQL may have written the recurrence.
    except Exception as error:
        return None, {"type": "RecurrenceError", "message": f"the recurrence ended: {error}"}
    return (None if following is None or following.year >= LAST_YEAR else following), None


def merge_errors(error: Error | None, fault: Error | None) -> Error | None:
    """Append the fault of a recurrence to the attempt's error, if there is one."""
    if error is None or fault is None:
        return error or fault
    return {**error, "message": f"{error['message']}; {fault['message']}"}
