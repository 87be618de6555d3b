"""Worker: the process that holds a claim, as the history of attempts records it."""

from dataclasses import dataclass

from minutehand.model.failure import storable

# The longest label that a column accepts.
LABEL_CHARACTERS = 200


@dataclass(frozen=True)
class Worker:
    """The worker of an attempt: function or process, Lambda's request id, memory, and version of the code."""

    name: str | None = None
    request: str | None = None
    memory_mb: int | None = None
    version: str | None = None


UNNAMED = Worker()


def label(text: str | None) -> str | None:
    """Return a text of the environment as a row may store it: a version that is too long must not fail an attempt."""
    return None if text is None else storable(text[:LABEL_CHARACTERS])
