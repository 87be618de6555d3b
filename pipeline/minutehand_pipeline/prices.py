"""Prices of Lambda, EventBridge Scheduler and databases, and the cost computations that use them.

AWS's and Neon's public list prices for us-east-1, without free tiers, as of DATED. Pass your own `Prices` for another
region or for a discount.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

DATED = date(2026, 10, 2)
# Hours per month, in AWS's price lists.
MONTH_HOURS = 730.0


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices in dollars.

    `gb_second` is by architecture. `wake` is one invocation by EventBridge Scheduler. `database_hour` is one hour of an
    Aurora capacity unit; Neon's price is 0.106.
    """

    gb_second: Mapping[str, float] = field(
        default_factory=lambda: {"arm64": 1.33334e-5, "x86_64": 1.66667e-5}
    )
    request: float = 0.20e-6
    wake: float = 1.00e-6
    database_hour: float = 0.12
    dated: date = DATED

    def of_run(self, gb_seconds: float, requests: float, architecture: str = "arm64") -> float:
        """Return the cost of invocations with a total of GB-seconds."""
        return gb_seconds * self.gb_second[architecture] + requests * self.request

    def of_wakes(self, wakes: float) -> float:
        """Return the cost of invocations by a schedule, without the invoked function."""
        return wakes * self.wake

    def of_database(self, awake_seconds: float, units: float = 1.0) -> float:
        """Return the cost of a database of some capacity units while it is awake."""
        return awake_seconds / 3600 * units * self.database_hour


def gb_seconds(milliseconds: float, memory_mb: float) -> float:
    """Return the billed GB-seconds of a run: its time, rounded up to milliseconds, times its memory."""
    return math.ceil(milliseconds) / 1000 * memory_mb / 1024


LIST = Prices()
