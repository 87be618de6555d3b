"""The parameters and the result of a report."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.prices import LIST, Prices

# Days of the window by default, and at most: each day has a row on the page, and each minute an entry in memory.
DEFAULT_DAYS = 28
MAX_DAYS = 3660
FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """The parameters of a report.

    lake          folder or address of the lake
    out           folder to write; None writes nothing
    since, until  first and last UTC day; by default the last four weeks of the lake, or all days of a younger one
    queue         report on this queue only
    objective     seconds after `run_at` within which a job must start
    target        share of jobs that must meet the objective, between 0 and 1
    prices        prices, in dollars unless `currency` says otherwise
    architecture  of the functions: arm64 or x86_64
    read_all      read all days, also those that an earlier report has summarized
    today         the current UTC day, which is incomplete
    """

    lake: str
    out: Path | None = None
    since: date | None = None
    until: date | None = None
    queue: str | None = None
    objective: float = 60.0
    target: float = 0.99
    prices: Prices = LIST
    architecture: str = "arm64"
    currency: str = "$"
    storage: Mapping[str, str] = field(default_factory=dict)
    read_all: bool = False
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    def __post_init__(self) -> None:
        """Check the parameters. Raises InputError."""
        if not 0 < self.target < 1:
            raise InputError("target must be above 0 and below 100 %, so that there is an error budget")
        if not self.objective > 0:
            raise InputError("objective must be a duration above 0, such as 60s")
        if self.since and self.until and self.since > self.until:
            raise InputError(f"since must not be after until, got {self.since} and {self.until}")
        if min(self.since or FIRST_DAY, self.until or FIRST_DAY) < FIRST_DAY:
            raise InputError(f"since and until must not be before {FIRST_DAY}")
        if self.architecture not in self.prices.gb_second:
            known = ", ".join(self.prices.gb_second)
            raise InputError(f"the prices have no architecture {self.architecture}; expected one of {known}")


@dataclass(frozen=True)
class ReportResult:
    """The result of a report: headline, summary, the rows of each table, and how many of its days were read."""

    headline: str
    summary: Mapping[str, Any]
    tables: Mapping[str, list[dict[str, Any]]]
    days: int = 0
    days_read: int = 0

    @property
    def reading(self) -> str:
        """How many days were read, in words."""
        others = "; the others were summarized by earlier reports" if self.days_read < self.days else ""
        return f"{self.days_read} of {self.days} days{others}"


def read_prices(path: Path) -> Prices:
    """Read prices from a JSON object with fields of `Prices`; missing fields have the list price. Raises InputError."""
    try:
        content = json.loads(path.read_text())
        known = {each.name for each in fields(Prices)}
        if not isinstance(content, dict) or set(content) - known:
            raise ValueError(f"expected an object with some of {', '.join(sorted(known))}")
        return Prices(**{name: _price(name, value) for name, value in content.items()})
    except (OSError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(f"cannot use the prices in {path}: {error}") from None


def _price(name: str, value: Any) -> Any:
    if name == "dated":
        return date.fromisoformat(value)
    if name == "gb_second":
        if not isinstance(value, dict) or set(value) - set(LIST.gb_second):
            raise ValueError(
                f"gb_second must be an object with some of {', '.join(LIST.gb_second)}, got {value!r}"
            )
        return {
            architecture: _number(f"gb_second of {architecture}", price)
            for architecture, price in value.items()
        }
    return _number(name, value)


def _number(name: str, value: Any) -> float:
    # JSON has no NaN, but Python reads it, and a number that is too large becomes infinite.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number of 0 or more, got {value!r}")
    return float(value)
