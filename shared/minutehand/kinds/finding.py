"""Finding: the declaration of a kind, whose module is imported at the first search."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from minutehand.kinds import registry
from minutehand.kinds.index import module_of

if TYPE_CHECKING:
    from minutehand.kinds.declaration import Declaration


def find_declaration(kind: str, modules: tuple[str, ...]) -> Declaration | None:
    """Return the declaration of a kind in this process, or in one of these modules and packages, or None."""
    if (declaration := registry.find(kind)) is not None:
        return declaration
    if (module := module_of(kind, modules)) is None:
        return None
    import_module(module)
    return registry.find(kind)
