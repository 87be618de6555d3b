"""Registry: the declared kinds of the modules that this process has imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minutehand.calling.binding import name_of
from minutehand.errors import InvalidHandlerError

if TYPE_CHECKING:
    # Imported with the first declaration.
    from minutehand.kinds.declaration import Declaration

_declared: dict[str, Declaration] = {}


def register(declaration: Declaration) -> None:
    """Add a kind; raise InvalidHandlerError if another function has it.

    A module that is imported again replaces its own functions, and so does a test whose function is local.
    """
    before = _declared.get(declaration.kind)
    if before is not None and not _is_replaced(before, declaration):
        raise InvalidHandlerError(
            f"kind {declaration.kind!r} is declared by {name_of(before.function)} "
            f"and by {name_of(declaration.function)}; set kind= for one of them"
        )
    _declared[declaration.kind] = declaration


def find(kind: str) -> Declaration | None:
    """Return a kind's declaration, if its module is imported."""
    return _declared.get(kind)


def is_empty() -> bool:
    """Whether no kind is declared."""
    return not _declared


def registered() -> dict[str, Declaration]:
    """Return the declarations by kind."""
    return dict(_declared)


def _is_replaced(before: Declaration, after: Declaration) -> bool:
    return name_of(before.function) == name_of(after.function) or "<locals>" in name_of(before.function)
