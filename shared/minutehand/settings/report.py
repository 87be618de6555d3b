"""Report: the value and origin of every setting, without secrets."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from minutehand.errors import ConfigurationError
from minutehand.model.suggestion import closest
from minutehand.settings.kinds import MASK, Setting
from minutehand.settings.table import DATABASE_SECRET, DATABASE_URL, SETTINGS

PREFIX = "MINUTEHAND_"
# Variables of this repository's own tests.
OF_TESTS = (f"{PREFIX}TEST_", f"{PREFIX}SOAK_")

Origin = Literal["environment", "secret", "default"]


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A setting as it may be shown: a secret value is masked, and a value that is unset and has no default is empty."""

    name: str
    value: str
    origin: Origin
    error: str | None
    kind: str
    description: str
    read_by: tuple[str, ...]


def report(environment: Mapping[str, str] = os.environ) -> list[Reported]:
    """Return all settings; secrets are not fetched from Secrets Manager."""
    return [_reported(setting, environment) for setting in SETTINGS.values()]


def misspelled(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that is not a setting but has a similar name.

    Others may be a team's own, such as the secrets of its routes.
    """
    known = [name.removeprefix(PREFIX) for name in SETTINGS if name.startswith(PREFIX)]
    unknown = [
        name
        for name in sorted(environment)
        if name.startswith(PREFIX) and not name.startswith(OF_TESTS) and name not in SETTINGS
    ]
    # Without the prefix, which makes every two names similar.
    return [
        f"{name} is not a setting; did you mean {PREFIX}{close}?"
        for name in unknown
        if (close := closest(name.removeprefix(PREFIX), known))
    ]


def format_default(setting: Setting[object]) -> str:
    """Return the default as it would be written in the environment; empty if there is none."""
    if isinstance(setting.default, bool):
        return "1" if setting.default else "0"
    return str(setting.default) if isinstance(setting.default, int | str) else ""


def _reported(setting: Setting[object], environment: Mapping[str, str]) -> Reported:
    origin, value = _value(setting, environment)
    return Reported(
        name=setting.name,
        value=value,
        origin=origin,
        error=_error(setting, environment),
        kind=setting.kind.name,
        description=setting.description,
        read_by=setting.read_by,
    )


def _value(setting: Setting[object], environment: Mapping[str, str]) -> tuple[Origin, str]:
    if text := setting.text(environment):
        return "environment", setting.mask(text) if setting.mask else text
    secret_name = DATABASE_SECRET.name if setting.name == DATABASE_URL.name else f"{setting.name}_SECRET"
    if environment.get(secret_name) and secret_name in SETTINGS:
        return "secret", MASK
    return "default", format_default(setting)


def _error(setting: Setting[object], environment: Mapping[str, str]) -> str | None:
    try:
        setting.read(environment)
    except ConfigurationError as error:
        return str(error)
    return None
