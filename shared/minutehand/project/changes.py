"""Changes: what differs between the version that a project has accepted and the installed one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from minutehand.project.lock import Lock

Part = Literal["version", "parameter", "schema", "setting"]
Verb = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class Change:
    """A change of one fact; `before` and `after` are its values, None if there is none."""

    part: Part
    name: str
    verb: Verb
    before: str | None
    after: str | None


def changes(old: Lock, new: Lock) -> list[Change]:
    """Return what changes from one version to another, in the order of the deploy: version, schema, stack, settings."""
    version = [Change("version", "minutehand", "changed", old.version, new.version)]
    return [
        *(version if old.version != new.version else []),
        *_compare("schema", old.schema, new.schema),
        *_compare("parameter", old.parameters, new.parameters),
        *_compare("setting", old.settings, new.settings),
    ]


def _compare(part: Part, old: Mapping[str, str | None], new: Mapping[str, str | None]) -> list[Change]:
    return [
        *(Change(part, name, "added", None, new[name]) for name in new if name not in old),
        *(
            Change(part, name, "changed", old[name], new[name])
            for name in new
            if name in old and old[name] != new[name]
        ),
        *(Change(part, name, "removed", old[name], None) for name in old if name not in new),
    ]
