"""Whether something that this process wrote needed a tick of mode sleep, which only a process of this mode requests.

The command line reads it at the end of a command, and warns if the dispatcher of the database sleeps.
"""

from collections.abc import Iterable

from minutehand.model.enqueued import Enqueued


class _Unrequested:
    """One for the process, because a command has one database, also in its threads."""

    def __init__(self) -> None:
        self.found = False


_unrequested = _Unrequested()


def note() -> None:
    """Note that a tick was needed."""
    _unrequested.found = True


def note_jobs(jobs: Iterable[Enqueued]) -> None:
    """Note that jobs were written, unless all of them changed nothing."""
    if any(job.outcome != "ignored" for job in jobs):
        note()


def take() -> bool:
    """Return whether a tick was needed, and forget it."""
    found, _unrequested.found = _unrequested.found, False
    return found
