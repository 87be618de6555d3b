"""Share: the weight of a tenant among those that share a queue."""

from dataclasses import dataclass
from typing import Any

from minutehand.errors import InvalidJobError

HEAVIEST = 1000


@dataclass(frozen=True, kw_only=True)
class Share:
    """The weight of a tenant, from 1 to 1000, in a queue, or with an empty `queue` wherever it has no other.

    A tenant without a share has weight 1. An empty `tenant` stands for the jobs without one.
    """

    tenant: str
    queue: str
    weight: int

    @property
    def place(self) -> tuple[str, str]:
        """Its place in a list: tenant and queue."""
        return self.tenant, self.queue


def check_weight(weight: Any) -> int:
    """Return a weight; raise InvalidJobError if it is not valid."""
    if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= HEAVIEST:
        raise InvalidJobError(
            "weight_is_1_to_1000", f"weight must be an integer from 1 to {HEAVIEST}, got {weight!r}"
        )
    return weight
