"""Configuration: what a local run needs to know of a project, from its pyproject.toml and template.yaml."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutehand.project.errors import ProjectError

MODULES = re.compile(r"^ +HandlerModules: *[\"']?([A-Za-z0-9_.,]+)", re.MULTILINE)
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
APPLICATION = re.compile(rf"{MODULE.pattern}:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Configuration:
    """The modules of the jobs, and the team's own ASGI application as `module:name`; each may be empty."""

    handlers: tuple[str, ...] = ()
    app: str = ""


def read_configuration(root: Path, handlers: Sequence[str] = ()) -> Configuration:
    """Return the configuration of a project; `handlers` take precedence over those of its files.

    The modules are `handlers` in the table tool.minutehand of pyproject.toml, else HandlerModules in template.yaml. The
    application is `app` in that table. Raises ProjectError if a value is not usable.
    """
    table = _table(root / "pyproject.toml")
    modules = tuple(handlers or table.get("handlers") or _modules(root / "template.yaml"))
    app = table.get("app", "")
    for module in modules:
        if not isinstance(module, str) or not MODULE.fullmatch(module):
            raise ProjectError(f"handlers must be modules such as shop.jobs, got {module!r}")
    if app and not (isinstance(app, str) and APPLICATION.fullmatch(app)):
        raise ProjectError(f"app must be a module and a name such as shop.api:app, got {app!r}")
    return Configuration(modules, app)


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


def _modules(path: Path) -> list[str]:
    found = MODULES.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return [module for module in found[1].split(",") if module] if found else []
