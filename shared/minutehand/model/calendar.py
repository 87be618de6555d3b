"""Calendar: the times that jobs and schedules may have.

They lie in the years 1 to 9999 in every time zone. The domain minutehand.finite_time has the same bounds.
"""

from datetime import UTC, datetime

FIRST = datetime(1, 1, 2, tzinfo=UTC)
# Exclusive.
END = datetime(9999, 12, 31, tzinfo=UTC)
# When a job is visible that waits for others; minutehand.while_waiting() in the database.
WAITING = datetime(9999, 12, 30, tzinfo=UTC)
