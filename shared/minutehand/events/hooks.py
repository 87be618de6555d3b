"""Hooks: functions of yours that are called in the process in which an event occurs.

    from minutehand.events import hooks

    @hooks.on("dead")
    def page(event):
        ...

MINUTEHAND_HOOKS names the modules that register hooks on import, separated by commas. They are imported at the first
event. MINUTEHAND_METRICS imports one of minutehand's in the same way.

A tick, an invocation of a worker and a request to the API also have figures, such as the number of due jobs:

    @hooks.on_figures
    def show(figures):
        ...
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, overload

from minutehand.calling.binding import is_async, name_of
from minutehand.errors import ConfigurationError
from minutehand.model.event import NAMES, Event, Hook, Name
from minutehand.settings.table import HOOKS, METRICS

Function = TypeVar("Function", bound=Hook)
# Receives figures by the names of the metrics.
FiguresHook = Callable[[Mapping[str, int]], None]
AnyName = Name | Literal["*"]

logger = logging.getLogger(__name__)
_hooks: dict[str, list[Hook]] = {}
_of_figures: list[FiguresHook] = []
# Called when figures could not be measured.
_of_loss: list[Callable[[], None]] = []
_warned: set[Hook | FiguresHook] = set()


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
        if left := [each for each in functions if each != function]:
            _hooks[name] = left
        else:
            _hooks.pop(name, None)
    _warned.discard(function)


def on_figures(function: FiguresHook) -> FiguresHook:
    """Register a function for the figures of each tick, invocation and request. Usable as a decorator.

    docs/metrics.md lists their names. The same rules apply as for the hooks of events.
    """
    _of_figures.append(function)
    return function


def off_figures(function: FiguresHook) -> None:
    """Unregister a function from the figures."""
    _of_figures[:] = [each for each in _of_figures if each != function]
    _warned.discard(function)


def on_lost_figures(function: Callable[[], None]) -> None:
    """Register a function that is called when figures could not be measured: those of before no longer hold."""
    _of_loss.append(function)


def off_lost_figures(function: Callable[[], None]) -> None:
    """Unregister a function from the loss of figures."""
    _of_loss[:] = [each for each in _of_loss if each != function]


def lose_figures() -> None:
    """Call the functions that are registered for the loss of figures."""
    for function in [*_of_loss]:
        function()


def has_hooks() -> bool:
    """Return whether any hook is registered."""
    load()
    return are_registered()


def are_registered() -> bool:
    """Return whether any hook is registered in this process."""
    return bool(_hooks)


def registered() -> Mapping[str, Sequence[Hook]]:
    """Return the hooks of this process by the names of their events, also future ones. Those of all events have `*`."""
    return _hooks


def load() -> None:
    """Import the modules that register hooks."""
    _load(HOOKS.read())
    _load_metrics(METRICS.read())


def call(event: Event) -> None:
    """Call an event's hooks in the order of registration, those of its name before those of all events."""
    load()
    call_registered(event)


def call_registered(event: Event) -> None:
    """Do what `call` does, after `load`. A worker does not read the settings for each event."""
    for function in [*_hooks.get(event.name, ()), *_hooks.get("*", ())]:
        try:
            function(event)
        except Exception as error:
            _warn_once(function, error)


def has_figures_hooks() -> bool:
    """Return whether any function is registered for figures."""
    load()
    return are_registered_for_figures()


def are_registered_for_figures() -> bool:
    """Return whether any function of this process is registered for figures."""
    return bool(_of_figures)


def call_with_figures(figures: Mapping[str, int]) -> None:
    """Call the functions that take figures, in the order of registration."""
    load()
    for function in [*_of_figures]:
        try:
            function(figures)
        except Exception as error:
            _warn_once(function, error)


def _warn_once(function: Hook | FiguresHook, error: Exception) -> None:
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


@cache
def _load_metrics(library: str) -> None:
    """Import the module of a metrics library, which registers hooks. A missing library must not fail a job."""
    if not library:
        return
    try:
        import_module(f"minutehand.metrics.{library}")
    except ImportError as error:
        logger.warning(
            "%s=%s records nothing: install minutehand[%s] (%s)", METRICS.name, library, library, error
        )
