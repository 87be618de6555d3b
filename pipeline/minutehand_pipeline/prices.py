"""The prices: what a run of a function, a wake-up and an hour of database cost; the one place that knows them.

AWS's and Neon's public list prices for us-east-1, without free tiers, as of DATED. Pass a `Prices` of your own for
another region or an agreement; every sum of the pipeline is made by the methods here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

DATED = date(2026, 10, 2)
MONTH_HOURS = 730.0  # as AWS counts a month


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Dollars for what is used, in us-east-1 unless you say otherwise.

    `gb_second` is by architecture, and billed by the millisecond; `wake` is one invocation by EventBridge Scheduler.
    `database_hour` is of one Aurora capacity unit; Neon's is 0.106.
    """

    gb_second: Mapping[str, float] = field(
        default_factory=lambda: {"arm64": 1.33334e-5, "x86_64": 1.66667e-5}
    )
    request: float = 0.20e-6
    wake: float = 1.00e-6
    database_hour: float = 0.12
    dated: date = DATED

    def of_run(self, gb_seconds: float, requests: float, architecture: str = "arm64") -> float:
        """Return the dollars of invocations that took so many GB-seconds together."""
        return gb_seconds * self.gb_second[architecture] + requests * self.request

    def of_wakes(self, wakes: float) -> float:
        """Return the dollars of so many wake-ups by a schedule, without the function that they wake."""
        return wakes * self.wake

    def of_database(self, awake_seconds: float, units: float = 1.0) -> float:
        """Return the dollars of a database of so many capacity units that was awake for so long."""
        return awake_seconds / 3600 * units * self.database_hour


def gb_seconds(milliseconds: float, memory_mb: float) -> float:
    """Return what a run is billed: its time, rounded up to the millisecond, times its memory."""
    return math.ceil(milliseconds) / 1000 * memory_mb / 1024


LIST = Prices()
