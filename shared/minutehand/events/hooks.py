"""Hooks: your functions, called in the process where something happens.

    from minutehand.events import hooks

    @hooks.on("dead")
    def page(event):
        ...

A module that registers its hooks when it is imported is named by MINUTEHAND_HOOKS, several by commas; it is imported
at the first event.
"""

import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, overload

from minutehand.errors import ConfigurationError
from minutehand.model.event import NAMES, Event, Name, Hook
from minutehand.settings.table import HOOKS

Hook = TypeVar("Hook", bound=Hook)
Wanted = Name | Literal["*"]

logger = logging.getLogger(__name__)
_hooks: dict[str, list[Hook]] = {}
_complained: set[Hook] = set()


@overload
def on(name: Wanted) -> Callable[[Hook], Hook]: ...
@overload
def on(name: Wanted, function: Hook) -> Hook: ...
def on(name: Wanted, function: Any = None) -> Any:
    """Have a function called with every event of a name, or of all (`*`); it may be used as a decorator.

    It runs in the worker's, dispatcher's or enqueuer's own time, so keep it short. What it raises is logged once and
    changes nothing.
    """
    if name != "*" and name not in NAMES:
        raise ConfigurationError(f"no event is called {name!r}; they are {', '.join(NAMES)}, or * for all")
    if function is None:
        return lambda function: on(name, function)
    _hooks.setdefault(name, []).append(function)
    return function


def off(function: Hook) -> None:
    """Call a function no more."""
    for name, functions in list(_hooks.items()):
        # By ==, since a bound method is made anew each time.
        _hooks[name] = [each for each in functions if each != function]
    _complained.discard(function)


def has_hooks() -> bool:
    """Whether somebody would be called."""
    _load(HOOKS.read())
    return any(_hooks.values())


def call(event: Event) -> None:
    """Call the hooks of an event, in the order in which they were registered, those of its name first."""
    if not has_hooks():
        return
    for function in [*_hooks.get(event.name, ()), *_hooks.get("*", ())]:
        try:
            function(event)
        except Exception as error:
            _complain(function, error)


def _complain(function: Hook, error: Exception) -> None:
    if function not in _complained:
        _complained.add(function)
        name = getattr(function, "__qualname__", repr(function))
        logger.warning("the hook %s failed, and is called all the same: %s", name, type(error).__name__)


@cache
def _load(modules: str) -> None:
    """Import the modules that register hooks; one that fails must not fail a job."""
    for module in filter(None, (name.strip() for name in modules.split(","))):
        try:
            import_module(module)
        except Exception as error:
            logger.error("the hooks of %s cannot be imported: %s: %s", module, type(error).__name__, error)
