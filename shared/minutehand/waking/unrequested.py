"""Whether something that this process wrote needed a tick of mode sleep, which only a process of this mode requests.

The command line reads it at the end of a command, and warns if the dispatcher of the database sleeps.
"""

from collections.abc import Iterable

from minutehand.model.enqueued import Enqueued


class Unrequested:
    """`needed` is set by each write that needed a tick. An attribute, because an enqueue should not pay for a call."""

    def __init__(self) -> None:
        """Begin without writes."""
        self.needed = False

    def note_jobs(self, jobs: Iterable[Enqueued]) -> None:
        """Note that jobs were written, unless all of them changed nothing."""
        self.needed |= any(job.outcome != "ignored" for job in jobs)

    def take(self) -> bool:
        """Return whether a tick was needed, and forget it."""
        needed, self.needed = self.needed, False
        return needed


# One for the process, because a command has one database, also in its threads.
unrequested = Unrequested()
