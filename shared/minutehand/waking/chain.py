"""Chain: how many invocations led to this one, so that workers that enqueue jobs do not invoke each other without end.

Lambda ends a chain of about 16 invocations, and counts by the trace header, which every request passes on
(https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html). Before that, the jobs wait for the next tick,
which begins a new chain.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Three functions in a row may have no count of their own: those of the team that enqueue.
MOST = 10
FIELD = "chain"
_LINEAGE = re.compile(r"Lineage=([^;]*)")


@dataclass(frozen=True)
class Chain:
    """The number of invocations in a row, without one that a schedule or a request began."""

    length: int = 0

    @classmethod
    def current(cls) -> "Chain":
        """Return that of this invocation: what its event says, or Lambda's own count if that is higher."""
        return cls(max(_begun, _lineage(os.environ.get("_X_AMZN_TRACE_ID", ""))))

    @property
    def is_long(self) -> bool:
        """Whether it must not become longer."""
        return self.length >= MOST

    @property
    def field(self) -> dict[str, int]:
        """The field of an event that continues the chain."""
        return {FIELD: self.length + 1}


def begin(event: Mapping[str, Any]) -> None:
    """Begin an invocation of this process, which handles one event at a time."""
    global _begun
    length = event.get(FIELD, 0)
    _begun = length if isinstance(length, int) else MOST


def _lineage(header: str) -> int:
    """Return the highest count in X-Ray's trace header, as in `Lineage=43e12f0f:5` or `Lineage=1:43e12f0f:5|...`."""
    found = _LINEAGE.search(header)
    counts = [part.rpartition(":")[2] for part in found[1].split("|")] if found else []
    return max((int(count) for count in counts if count.isdigit()), default=0)


_begun = 0
