"""Format numbers for people: counts, durations, shares, money and days."""

import math
from collections.abc import Callable
from datetime import date

NOTHING, MINUS, SAME = "\N{EN DASH}", "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}"
SHORT = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(number: float, noun: str = "") -> str:
    """Return an integer with thousands separators, and its noun in singular or plural."""
    plural = noun and f" {noun}{'s' * (number != 1)}"
    return f"{number:,.0f}{plural}"


def short_count(number: float, noun: str = "") -> str:
    """Return an integer with about three digits: 850, 1.2 M."""
    plural = noun and f" {noun}{'s' * (number != 1)}"
    for size, letter in SHORT:
        if number >= size * (10 if letter == "k" else 1):
            return f"{_three(number / size)} {letter}{plural}"
    return f"{number:,.0f}{plural}"


def number(value: float) -> str:
    """Return a number with about three digits."""
    return count(value) if value >= 100 or value == int(value) else _three(value)


def seconds(value: float | None) -> str:
    """Return a duration in a suitable unit: 850 ms, 4.2 s, 3 min 20 s, 5 h 12 min, 3 days."""
    if value is None:
        return NOTHING
    if value < 0.9995:
        return f"{value * 1000:.3g} ms" if value >= 0.0005 else "0 s"
    if value < 119.5:
        return f"{_three(value)} s"
    if value < 7199.5:
        return _two(round(value), 60, "min", "s")
    if value < 48 * 3600:
        return _two(round(value / 60), 60, "h", "min")
    return f"{_three(value / 86400)} days"


def share(value: float | None) -> str:
    """Return a share in percent. It is never rounded up to 100 % or down to 0 %."""
    if value is None:
        return NOTHING
    percent = value * 100
    if 0 < percent < 0.1:
        return "< 0.1 %"
    digits = 2 if 99 <= percent < 100 else 1
    shown = math.floor(percent * 10**digits) / 10**digits if percent >= 99 else round(percent, 1)
    return f"{shown:g} %"


def money(value: float | None, currency: str) -> str:
    """Return an amount with two decimals, or more if it is small."""
    if value is None:
        return NOTHING
    if value == 0 or abs(value) >= 0.995:
        amount = f"{abs(value):,.2f}"
    else:
        amount = f"{abs(value):.2f}" if abs(value) >= 0.0995 else f"{abs(value):.2g}"
        amount = f"{abs(value):.7f}".rstrip("0") if "e" in amount else amount
    sign = MINUS if value < 0 else ""
    return f"{sign}{currency}{amount}" if len(currency) == 1 else f"{sign}{amount} {currency}"


def points(value: float) -> str:
    """Return a difference of shares in percentage points."""
    return f"{_three(value * 100) if abs(value) >= 0.0005 else '0'} points"


def change(value: float | None, format: Callable[[float], str]) -> str:
    """Return a difference with its sign, or an empty string if there is none."""
    if value is None:
        return ""
    sign = "+" if value > 0 else MINUS if value < 0 else SAME
    return f"{sign}{format(abs(value))}"


def day(value: date) -> str:
    """Return a day as 3 March."""
    return f"{value.day} {value:%B}"


def short_day(value: date) -> str:
    """Return a day as 3 Mar."""
    return f"{value.day} {value:%b}"


def span(since: date, until: date) -> str:
    """Return days as from 1 to 28 March 2026."""
    if since == until:
        return f"on {day(until)} {until.year}"
    first = str(since.day) if (since.year, since.month) == (until.year, until.month) else day(since)
    year = f" {since.year}" if since.year != until.year else ""
    return f"from {first}{year} to {day(until)} {until.year}"


def _three(value: float) -> str:
    if value >= 99.5:
        return f"{value:.0f}"
    return f"{value:.1f}".removesuffix(".0") if value >= 9.95 else f"{value:.2g}"


def _two(value: int, size: int, large: str, small: str) -> str:
    whole, rest = divmod(value, size)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"
