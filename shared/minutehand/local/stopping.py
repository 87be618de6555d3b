"""Stopping: how a local run ends. Running jobs and requests have some seconds to end, or none after a second signal."""

from time import monotonic

from minutehand.cli.stop import Stop

GRACE_SECONDS = 10.0


class LocalStop(Stop):
    """The stop of a local run. It is urgent after GRACE_SECONDS, or after a second signal."""

    def __init__(self) -> None:
        """Nothing is requested yet."""
        super().__init__()
        self._deadline = float("inf")

    def set(self) -> None:
        """Request a stop."""
        # First, because another thread may ask for the deadline as soon as the stop is requested.
        self._deadline = min(self._deadline, monotonic() + GRACE_SECONDS)
        super().set()

    def is_urgent(self) -> bool:
        """Return whether running jobs and requests must end now."""
        return self.is_repeated or monotonic() >= self._deadline


def never() -> bool:
    """Let running jobs and requests take their time."""
    return False
