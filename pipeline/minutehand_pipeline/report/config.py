"""What a report is asked, and what it answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.prices import LIST, Prices

DAYS = 28  # of the window, unless said: four weeks
MOST_DAYS = 3660  # of a window: each has a row on the page, and each minute a place in memory
FIRST = date(1970, 1, 1)  # that can be asked for
LOOK_BACK = 7  # days before the window in which a job's first attempt is still looked for

TODAY = field(default_factory=lambda: datetime.now(UTC).date())


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """What a report is of.

    lake          the lake's folder or URL
    out           the folder that is written; none is, if it is None
    since, until  the UTC days of the window, both included; the last four weeks that the lake has, unless said
    queue         only this queue's jobs
    objective     seconds from `run_at` within which a job is to be begun
    target        the share of jobs that have to be, between 0 and 1
    prices        what things cost, in dollars unless `currency` names something else
    architecture  arm64 or x86_64, of the functions
    pauses        whether the database may pause when nothing asks it
    today         the day that is not over yet
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
    pauses: bool = False
    storage: Mapping[str, str] = field(default_factory=dict)
    today: date = TODAY

    def __post_init__(self) -> None:
        """Refuse what makes no sense, in a sentence."""
        if not 0 < self.target < 1:
            raise InputError(
                "the target is a share above 0 and below 100 %, so that there is an error budget"
            )
        if not self.objective > 0:
            raise InputError("the objective is a duration above 0, as 60s")
        if self.since and self.until and self.since > self.until:
            raise InputError(f"the window ends before it begins: {self.since} is after {self.until}")
        if min(self.since or FIRST, self.until or FIRST) < FIRST:
            raise InputError(f"the window is of days from {FIRST} on")
        if self.architecture not in self.prices.gb_second:
            raise InputError(
                f"there is no price for {self.architecture}; the prices name {', '.join(self.prices.gb_second)}"
            )


@dataclass(frozen=True)
class ReportResult:
    """What a report found: its headline, its numbers, and each table as rows."""

    headline: str
    summary: Mapping[str, Any]
    tables: Mapping[str, list[dict[str, Any]]]


def read_prices(path: Path) -> Prices:
    """Return prices from a JSON object with the fields of `Prices`; what it does not say is as listed.

    Raises InputError for a file that is none, or says something that is no price.
    """
    try:
        said = json.loads(path.read_text())
        known = {each.name for each in fields(Prices)}
        if not isinstance(said, dict) or set(said) - known:
            raise ValueError(f"it is an object with some of {', '.join(sorted(known))}")
        return Prices(**{name: _price(name, value) for name, value in said.items()})
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"the prices in {path} cannot be used: {error}") from None


def _price(name: str, value: Any) -> Any:
    if name == "dated":
        return date.fromisoformat(value)
    if name == "gb_second":
        return {str(architecture): float(price) for architecture, price in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError(f"{name} is a number that is not negative")
    return float(value)
