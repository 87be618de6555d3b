"""Zones: the IANA time zones, by the list in the package tzdata.

The list is the same on every machine. An operating system also has files that are not zones of IANA, such as
`localtime` and `posix/Europe/Berlin`, and Lambda has none of them.
"""

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

# The other names without a slash are old, and some are abbreviations without daylight saving rules. SQL has the same
# rule in the domain minutehand.zone.
WITHOUT_SLASH = frozenset({"UTC", "GMT"})


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the names that a job, a schedule or a query may use: Area/Location, UTC and GMT."""
    # Imported only when used, for the sake of cold starts.
    from importlib.resources import files

    listed = files("tzdata").joinpath("zones").read_text().split()
    return frozenset(name for name in listed if "/" in name) | WITHOUT_SLASH


@lru_cache(maxsize=256)
def zone_of(name: str | None) -> tzinfo:
    """Return a time zone by its name, and UTC for None; raise InvalidJobError if it does not exist."""
    if name in (None, "UTC"):
        return UTC
    if name not in zone_names():
        raise InvalidJobError("zone_is_known", f"{sentence('zone_is_known')}, got {str(name)[:80]!r}")
    return ZoneInfo(name)
