"""Hooks: functions of yours that are called in the process in which an event occurs.

    from minutehand.events import hooks

    @hooks.on("dead")
    def page(event):
        ...

MINUTEHAND_HOOKS names the modules that register hooks on import, separated by commas. They are imported at the first
event.
"""

import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, overload

from minutehand.calling.binding import is_async, name_of
from minutehand.errors import ConfigurationError
from minutehand.model.event import NAMES, Event, Hook, Name
from minutehand.settings.table import HOOKS

Function = TypeVar("Function", bound=Hook)
AnyName = Name | Literal["*"]

logger = logging.getLogger(__name__)
_hooks: dict[str, list[Hook]] = {}
_warned: set[Hook] = set()


@overload
def on(name: AnyName) -> Callable[[Function], Function]: ...
@overload
def on(name: AnyName, function: Function) -> Function: ...
def on(name: AnyName, function: Any = None) -> Any:
    """Register a function for every event of a name, or for all events (`*`). Usable as a decorator.

    The hook runs in the time of the worker, dispatcher or enqueuing process, so keep it short. The first error that it
    raises is logged; errors have no other effect.
    """
    if name != "*" and name not in NAMES:
        raise ConfigurationError(f"event must be {', '.join(NAMES)}, or * for all, got {name!r}")
    if function is None:
        return lambda function: on(name, function)
    if is_async(function):
        raise ConfigurationError(f"hooks must not be async, got {name_of(function)}")
    _hooks.setdefault(name, []).append(function)
    return function


def off(function: Hook) -> None:
    """Unregister a hook."""
    for name, functions in list(_hooks.items()):
        # Compared with !=, since each access to a bound method creates a new object.
        _hooks[name] = [each for each in functions if each != function]
    _warned.discard(function)


def has_hooks() -> bool:
    """Return whether any hook is registered."""
    load()
    return are_registered()


def are_registered() -> bool:
    """Return whether any hook is registered in this process."""
    return any(_hooks.values())


def load() -> None:
    """Import the modules that register hooks."""
    _load(HOOKS.read())


def call(event: Event) -> None:
    """Call an event's hooks in the order of registration, those of its name before those of all events."""
    if not has_hooks():
        return
    for function in [*_hooks.get(event.name, ()), *_hooks.get("*", ())]:
        try:
            function(event)
        except Exception as error:
            _warn_once(function, error)


def _warn_once(function: Hook, error: Exception) -> None:
    if function not in _warned:
        _warned.add(function)
        name = getattr(function, "__qualname__", repr(function))
        logger.warning("hook %s failed, and stays registered: %s", name, type(error).__name__)


@cache
def _load(modules: str) -> None:
    """Import the modules that register hooks. A module that fails must not fail a job."""
    for module in filter(None, (name.strip() for name in modules.split(","))):
        try:
            import_module(module)
        except Exception as error:
            logger.error(
                "MINUTEHAND_HOOKS: %s cannot be imported: %s: %s", module, type(error).__name__, error
            )
