"""The handlers of `minutehand work`: modules, folders, or those of the project in the current folder."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from minutehand.cli.kinds import add_folders, project_modules
from minutehand.handlers import DEFAULT_PACKAGE, HandlerPackage
from minutehand.project.configuration import MODULE
from minutehand.web.delivery.fallback import deliver_if_routed

FOLDER = "functions/worker/handlers"
OPTION = "--handlers"


def find_handlers(given: Sequence[str]) -> HandlerPackage:
    """Return the handlers in the given modules and folders, and in the modules of MINUTEHAND_HANDLERS or the project.

    Without any, they are in functions/worker/handlers.
    """
    add_folders()
    modules = project_modules()
    if given or not modules:
        packages = [_package(name) for name in given or [FOLDER]]
    else:
        packages = [_folder(Path(FOLDER))] if Path(FOLDER).is_dir() else [DEFAULT_PACKAGE]
    return HandlerPackage([*modules, *packages], deliver_if_routed)


def _package(name: str) -> str:
    """Return the name by which a module or folder is imported."""
    if Path(name).is_dir() or not MODULE.fullmatch(name):
        return _folder(Path(name))
    try:
        found = find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise click.BadParameter(
            f"module {name} not found; start the command in the folder that contains {name.split('.')[0]}",
            param_hint=OPTION,
        )
    return name


def _folder(folder: Path) -> str:
    folder = folder.resolve()
    if not folder.is_dir():
        raise click.BadParameter(
            f"folder {folder} not found; pass a folder, or a module such as shop.jobs", param_hint=OPTION
        )
    name = folder.name
    if not name.isidentifier() or name in sys.modules or name in sys.stdlib_module_names:
        raise click.BadParameter(
            f"the folder must have a name that Python can import and no other module has, got {name!r}; "
            "rename it, for example to `handlers`",
            param_hint=OPTION,
        )
    sys.path.insert(0, str(folder.parent))
    return name
