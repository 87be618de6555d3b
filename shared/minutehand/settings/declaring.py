"""Declaring: put a setting into the table of all settings."""

from collections.abc import Callable
from typing import Any, TypeVar

from minutehand.settings.kinds import FLAG, ITEMS, TEXT, Kind, Setting
from minutehand.settings.masks import mask_all

Value = TypeVar("Value")

SETTINGS: dict[str, Setting[Any]] = {}


def declare(
    name: str,
    kind: Kind[Value],
    default: Value,
    description: str,
    *read_by: str,
    mask: Callable[[str], str] | None = None,
) -> Setting[Value]:
    """Declare a setting of any kind."""
    setting = SETTINGS[name] = Setting(name, kind, default, description, read_by, mask)
    return setting


def declare_text(
    name: str, description: str, *read_by: str, mask: Callable[[str], str] | None = None
) -> Setting[str]:
    """Declare a text, which is empty by default."""
    return declare(name, TEXT, "", description, *read_by, mask=mask)


def declare_flag(name: str, description: str, *read_by: str) -> Setting[bool]:
    """Declare a flag, which is off by default."""
    return declare(name, FLAG, False, description, *read_by)


def declare_items(name: str, description: str, *read_by: str) -> Setting[tuple[str, ...]]:
    """Declare texts that commas separate."""
    return declare(name, ITEMS, (), description, *read_by)


def declare_secret(name: str, description: str, *read_by: str) -> Setting[str]:
    """Declare a secret, and a variable with the name of an entry in Secrets Manager that contains it."""
    setting = declare(name, TEXT, "", description, *read_by, mask=mask_all)
    instead = f"Name or ARN of a secret in Secrets Manager; read if {name} is empty."
    declare(f"{name}_SECRET", TEXT, "", instead, *read_by)
    return setting
