"""The handlers of `minutehand work`: modules, folders, or those of the project in the current folder."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from minutehand.cli.kinds import add_folders, project_modules
from minutehand.cli.output import print_message
from minutehand.errors import ConfigurationError
from minutehand.handlers import DEFAULT_PACKAGE, HandlerPackage
from minutehand.kinds.importing import ADVICE, declares_nothing, fault_of, syntax_fault_of
from minutehand.kinds.index import files
from minutehand.project.configuration import MODULE
from minutehand.settings.table import HANDLERS
from minutehand.web.delivery.fallback import deliver_if_routed

FOLDER = "functions/worker/handlers"
OPTION = "--handlers"


def find_handlers(given: Sequence[str]) -> HandlerPackage:
    """Return the handlers in the given modules and folders, and in the modules of MINUTEHAND_HANDLERS or the project.

    Without any, they are in functions/worker/handlers.
    """
    add_folders()
    modules = project_modules()
    if not given and not modules and not Path(FOLDER).is_dir():
        raise ConfigurationError(
            "no handlers are named here; run this in the folder of a project, pass --handlers shop.jobs, or set "
            f"{HANDLERS.name}"
        )
    if given or not modules:
        packages = [_package(name) for name in given or [FOLDER]]
    else:
        packages = [_folder(Path(FOLDER))] if Path(FOLDER).is_dir() else [DEFAULT_PACKAGE]
    # After the folders, whose names no imported module may have.
    origin = HANDLERS.name if HANDLERS.read() else "the modules of this project"
    for module in modules:
        _check(module, origin)
    for package, name in zip(packages, given, strict=False):
        if not _is_folder(name):
            _check(package, OPTION)
        elif fault := syntax_fault_of(package):
            raise ConfigurationError(f"{fault}; {ADVICE}")
    return HandlerPackage([*modules, *packages], deliver_if_routed)


def _package(name: str) -> str:
    """Return the name by which a module or folder is imported."""
    return _folder(Path(name)) if _is_folder(name) else name


def _is_folder(name: str) -> bool:
    return Path(name).is_dir() or not MODULE.fullmatch(name)


def _check(module: str, origin: str) -> None:
    """Import a module, so that one that fails is refused here, and not by an attempt of each of its jobs."""
    if not files((module,)):
        raise click.BadParameter(
            f"module {module} not found; start the command in the folder that contains {module.split('.')[0]}",
            param_hint=origin,
        )
    if fault := fault_of(module):
        raise ConfigurationError(f"{fault}; {ADVICE}")
    if declares_nothing(module):
        print_message(f"warning: module {module} declares no job")


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
