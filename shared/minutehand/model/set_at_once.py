"""Set at once: a faster __init__ for a frozen dataclass with many fields."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])
# The metadata of a field whose default is made when it is read for the first time.
ON_READ = {"on_read": True}


def set_at_once(cls: Class) -> Class:
    """Replace the __init__ of a frozen dataclass, which sets each field by a call; a bulk creates very many jobs.

    An instance stores the fields that were given; the others are those of the class, where a dataclass has its
    defaults. The class must not have `__post_init__`.
    """
    checked = cls.__init__
    positional = tuple(each.name for each in fields(cls) if not each.kw_only)
    known = frozenset(each.name for each in fields(cls))
    required = frozenset(
        each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING
    )
    # How many arguments set all required fields. These come first, unless they are keyword-only.
    fewest = len(required) if required <= frozenset(positional) else len(known) + 1
    now, on_read = _factories(cls, on_read=False), _factories(cls, on_read=True)

    @wraps(checked)
    def init(self: Any, *args: Any, **given: Any) -> None:
        values = vars(self)
        values.update(zip(positional, args, strict=False))
        if given:
            values.update(given)
            # A name that is given twice, or one argument too many, makes it shorter than what was given.
            is_short = len(values) < len(args) + len(given)
            is_valid = not is_short and required <= values.keys() and known.issuperset(given)
        else:
            is_valid = fewest <= len(args) <= len(positional)
        if not is_valid:
            values.clear()
            # Raises the TypeError.
            checked(self, *args, **given)
        if now:
            for name, make in now.items():
                if name not in values:
                    values[name] = make()

    cls.__init__ = init
    if on_read:
        _make_on_read(cls, on_read)
    return cls


def _factories(cls: type[Any], on_read: bool) -> dict[str, Callable[[], Any]]:
    return {
        each.name: each.default_factory
        for each in fields(cls)
        if each.default_factory is not MISSING and each.metadata.get("on_read", False) is on_read
    }


def _make_on_read(cls: type[Any], factories: dict[str, Callable[[], Any]]) -> None:
    """Make the defaults of fields when they are read; a copy has those of the original."""

    def get(self: Any, name: str) -> Any:
        if name not in factories:
            raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}", name=name, obj=self)
        # In one step, because other threads may read it, too.
        return vars(self).setdefault(name, factories[name]())

    def get_state(self: Any) -> dict[str, Any]:
        return {**vars(self), **{name: getattr(self, name) for name in factories}}

    added: Any = cls
    added.__getattr__, added.__getstate__ = get, get_state
