"""Prices: a dated table, in which a file of yours may replace single values."""

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from minutehand.errors import ConfigurationError
from minutehand.model.suggestion import suggestion

SHIPPED = Path(__file__).with_name("prices.toml")
LARGEST_FILE = 1_000_000


@dataclass(frozen=True)
class Prices:
    """The prices in dollars, by section and name, the date that they are from, and their region."""

    dated: date
    region: str
    values: dict[str, dict[str, float]]

    def __call__(self, section: str, name: str) -> float:
        """Return a value."""
        return self.values[section][name]

    def run(self, milliseconds: float, memory_mb: float, architecture: str) -> float:
        """Return the price of time that a function runs."""
        gb_seconds = milliseconds / 1000 * memory_mb / 1024
        return gb_seconds * self("lambda", f"{architecture}_gb_second")

    def requests(self, count: float) -> float:
        """Return the price of invocations, without their time."""
        return count * self("lambda", "request")


def read_prices(file: Path | None = None) -> Prices:
    """Return the table, with the values of a file instead of its own; raise ConfigurationError if it is not valid."""
    table = tomllib.loads(SHIPPED.read_text("utf-8"))
    if file is not None:
        for name, value in _read(file).items():
            _replace(table, name, value, file)
    dated, region = table.pop("dated"), table.pop("region")
    return Prices(dated, region, {section: {**values} for section, values in table.items()})


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as content:
            return tomllib.loads(content.read(LARGEST_FILE).decode())
    except OSError as error:
        raise ConfigurationError(f"the prices in {file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigurationError(f"{file} must be TOML: {error}") from None


def _replace(table: dict[str, Any], name: str, value: object, file: Path) -> None:
    if name not in table:
        raise ConfigurationError(f"{file} has an unknown section {name}{suggestion(name, table)}")
    current = table[name]
    if isinstance(current, dict):
        if not isinstance(value, dict):
            raise ConfigurationError(f"{name} in {file} must be a section, such as [{name}]")
        for key, price in value.items():
            current[key] = _price(current, f"{name}.{key}", key, price, file)
    elif type(value) is not type(current):
        kind = "a date, such as 2026-10-02" if name == "dated" else "a text"
        raise ConfigurationError(f"{name} in {file} must be {kind}")
    else:
        table[name] = value


def _price(known: dict[str, Any], place: str, key: str, value: object, file: Path) -> float:
    if key not in known:
        raise ConfigurationError(f"{file} has an unknown value {place}{suggestion(key, known)}")
    # A comparison with NaN is false.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise ConfigurationError(f"{place} in {file} must be a number from 0, got {value!r}")
    return value
