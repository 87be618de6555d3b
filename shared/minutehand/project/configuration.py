"""Configuration: what a local run needs to know of a project, from its pyproject.toml and template.yaml."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutehand.project.errors import ProjectError

# Values of these parameters of the stack in a template.
PARAMETER = r"^ +{}: *[\"']?([A-Za-z0-9_.,:]+)"
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
APPLICATION = re.compile(rf"{MODULE.pattern}:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Configuration:
    """What a project's files say about its code. Each value may be empty.

    These are the modules of the jobs, the team's own ASGI application as `module:name`, the worker's middleware, the
    list of schedules as `module:NAME`, and the modules of hooks.
    """

    handlers: tuple[str, ...] = ()
    app: str = ""
    middleware: str = ""
    schedules: str = ""
    hooks: tuple[str, ...] = ()


def read_configuration(root: Path, handlers: Sequence[str] = ()) -> Configuration:
    """Return the configuration of a project; `handlers` take precedence over those of its files.

    They are `handlers`, `app` and `middleware` in the table tool.minutehand of pyproject.toml. Otherwise, the modules,
    the middleware, the schedules and the hooks are HandlerModules, Middleware, DeclaredSchedules and Hooks in
    template.yaml. Raises ProjectError if a value is not usable.
    """
    table, template = _table(root / "pyproject.toml"), root / "template.yaml"
    modules = tuple(handlers or table.get("handlers") or _parameter(template, "HandlerModules"))
    app, middleware = (
        table.get("app", ""),
        table.get("middleware") or ",".join(_parameter(template, "Middleware")),
    )
    hooks = tuple(_parameter(template, "Hooks"))
    schedules = ",".join(_parameter(template, "DeclaredSchedules"))
    for module in modules:
        if not isinstance(module, str) or not MODULE.fullmatch(module):
            raise ProjectError(f"handlers must be modules such as shop.jobs, got {module!r}")
    if app and not (isinstance(app, str) and APPLICATION.fullmatch(app)):
        raise ProjectError(f"app must be a module and a name such as shop.api:app, got {app!r}")
    if middleware and not (isinstance(middleware, str) and MODULE.fullmatch(middleware)):
        raise ProjectError(f"middleware must be a module such as shop.middleware, got {middleware!r}")
    if schedules and not APPLICATION.fullmatch(schedules):
        raise ProjectError(
            f"DeclaredSchedules must be a module and a name such as shop.schedules:SCHEDULES, got {schedules!r}"
        )
    for module in hooks:
        if not MODULE.fullmatch(module):
            raise ProjectError(f"Hooks must be modules such as shop.hooks, got {module!r}")
    return Configuration(modules, app, middleware, schedules, hooks)


def _table(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file).get("tool", {}).get("minutehand", {})
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{path} cannot be read: {error}") from None
    if not isinstance(table, dict) or not isinstance(table.get("handlers", []), list):
        raise ProjectError(
            f'{path}: tool.minutehand must be a table, and its handlers a list such as ["shop.jobs"]'
        )
    return table


def _parameter(path: Path, name: str) -> list[str]:
    """Return the modules in a parameter of the stack, in the text of a template."""
    pattern = re.compile(PARAMETER.format(name), re.MULTILINE)
    found = pattern.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return [module for module in found[1].split(",") if module] if found else []
