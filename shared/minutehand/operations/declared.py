"""Declared limits: write the limits, rates and breakers that code declares, and remove those that it no longer does."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from hashlib import sha256
from importlib import import_module
from typing import Any

from minutehand.database import Database
from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.model.control import LIMITING, SCOPE, Control, OnDead, Per, check_limit, check_scope
from minutehand.operations import controls

MOST = 1000
PLACE = (*SCOPE, "per")


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit that code declares. Its fields are the parameters of `controls.limit`."""

    limit: int | None = None
    queue: str = ""
    kind: str = ""
    key: str = ""
    group: str = ""
    tenant: str = ""
    per: Per = ""
    rate: int | None = None
    period: timedelta | None = None
    burst: int | None = None
    in_order: bool | None = None
    on_dead: OnDead | None = None
    break_after: int | None = None
    break_for: timedelta | None = None
    reason: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """The names of the jobs that it limits, which no two limits of a source share."""
        return {name: getattr(self, name) for name in PLACE}

    @property
    def scope(self) -> str:
        """The jobs that it limits, in words."""
        return Control(**self.names).scope  # type: ignore[arg-type]

    def digest(self) -> str:
        """Return a hash of the declaration."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class InstalledLimits:
    """The scopes of the limits that were added, changed, unchanged and removed.

    `refused` are scopes of declared limits that exist and are not of this source. Those stay as they are.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def install(database: Database, limits: Iterable[Limit], source: str = "code") -> InstalledLimits:
    """Replace all limits of a source with these, in one transaction.

    A limit whose declaration is unchanged stays as it is, also if somebody changed it since; so every instance may
    install at every start. Limits that are no longer declared are removed. A limit is not installed if there is one
    for the same jobs that is not of this source. Each change is in the audit trail, with the source as its actor.
    Raises InvalidJobError, and changes nothing, if a limit is invalid or declared twice.
    """
    declared = _by_names(limits)
    scopes = json.dumps([limit.names for limit in declared.values()])
    outcomes: dict[str, list[str]] = {each.name: [] for each in fields(InstalledLimits)}
    with database.transaction():
        database.run("lock_installation")
        existing = database.run("list_installed_limits", source=source, scopes=scopes)
        hashes = {_place(each): each["hash"] for each in existing if each["source"] == source}
        others = {_place(each) for each in existing if each["source"] != source}
        for place, limit in declared.items():
            hash = limit.digest()
            outcome = "refused" if place in others else _outcome(hashes.get(place), hash)
            if outcome in ("added", "changed"):
                controls.limit(database, **vars(limit), actor=source)
                database.run("note_source", **limit.names, source=source, hash=hash)
            outcomes[outcome].append(limit.scope)
        for place in sorted(set(hashes) - set(declared)):
            names: dict[str, Any] = dict(zip(PLACE, place, strict=True))
            controls.unlimit(database, **names, actor=source)
            outcomes["removed"].append(Control(**names).scope)
    return InstalledLimits(**{outcome: tuple(each) for outcome, each in outcomes.items()})


def _outcome(before: str | None, hash: str) -> str:
    if before is None:
        return "added"
    return "unchanged" if before == hash else "changed"


def load(place: str) -> list[Limit]:
    """Return the limits in `module:NAME`; the default name is LIMITS. A module without that name declares none."""
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name or "LIMITS", ())
    except (ImportError, SyntaxError) as error:
        # Imported only when used, for the sake of cold starts.
        from minutehand.model.loading import reason

        raise ConfigurationError(
            f"limits could not be loaded from {place}: {reason(error, module)}"
        ) from None
    limits = list(found) if isinstance(found, (list, tuple)) else [found]
    if others := [each for each in limits if not isinstance(each, Limit)]:
        raise ConfigurationError(f"{place} must contain only Limit objects, got {type(others[0]).__name__}")
    return limits


def _by_names(limits: Iterable[Limit]) -> dict[tuple[str, ...], Limit]:
    declared: dict[tuple[str, ...], Limit] = {}
    for limit in limits:
        values = vars(limit)
        scope = check_scope(**{name: values[name] for name in PLACE})
        check_limit(scope, **{name: values[name] for name in LIMITING})
        place = _place(limit.names)
        if place in declared:
            raise InvalidJobError("limit_is_named", f"the limit of {limit.scope} is declared twice")
        declared[place] = limit
    if len(declared) > MOST:
        raise InvalidJobError(
            "limits_are_bounded", f"at most {MOST} limits may be declared, got {len(declared)}"
        )
    return declared


def _place(names: dict[str, Any]) -> tuple[str, ...]:
    return tuple(names[name] for name in PLACE)
