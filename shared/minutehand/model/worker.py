"""Worker: the process that holds a claim, as the history of attempts records it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Worker:
    """The worker of an attempt: function or process, Lambda's request id, memory, and version of the code."""

    name: str | None = None
    request: str | None = None
    memory_mb: int | None = None
    version: str | None = None


UNNAMED = Worker()
