"""Plan: what a local run runs, and whether it can start."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from minutehand.cli.output import print_message
from minutehand.errors import ConfigurationError
from minutehand.kinds.importing import ADVICE, examine_apart
from minutehand.kinds.index import files
from minutehand.local.errors import LocalError, PortInUseError
from minutehand.local.home import is_free, listen
from minutehand.project.configuration import Configuration, read_configuration
from minutehand.project.link import PLACE, link_stack
from minutehand.project.lock import NAME
from minutehand.settings import sleeps
from minutehand.settings.table import HANDLERS
from minutehand.stack import folder


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of a local run."""

    root: Path
    functions: Path
    configuration: Configuration
    port: int
    every: float
    workers: int
    seed: bool
    until_idle: bool


def find_functions(root: Path, modules: Sequence[str]) -> Path:
    """Return the folder of the functions: the project's own, or that of the installed stack.

    Raises LocalError if the folder is not a project and no modules are given.
    """
    own = root / "functions"
    if (own / "worker" / "app.py").exists() and (own / "dispatcher" / "app.py").exists():
        return own
    if not modules and not read_configuration(root).handlers:
        raise LocalError(
            f"no modules with jobs are configured in {root}; run this in the folder of a project, "
            "pass --handlers MODULE, or create a project: minutehand init NAME"
        )
    return folder() / "functions"


def check(plan: Plan) -> None:
    """Raise LocalError if the run cannot start; refresh the link to the stack in a project."""
    if sleeps():
        raise LocalError(
            "minutehand dev has no EventBridge Scheduler, which the mode sleep needs; unset MINUTEHAND_MODE, or set it "
            "to minute"
        )
    if (plan.root / PLACE).is_symlink() or (plan.root / NAME).exists():
        link_stack(plan.root)
    sys.path.insert(0, str(plan.root))
    for module in plan.configuration.handlers:
        if not files((module,)):
            raise LocalError(
                f"module {module} not found in {plan.root}; correct its name, or start the command in the folder "
                f"that contains {module.split('.')[0]}"
            )
    listen(plan.port).close()


def check_modules(plan: Plan, environment: Mapping[str, str]) -> None:
    """Raise ConfigurationError if a module with jobs cannot be imported, and warn of one that declares none.

    They are imported in another process with the environment of the functions, so that this one has no state of them.
    """
    faults, empty = examine_apart(plan.configuration.handlers or HANDLERS.read(), environment)
    if faults:
        raise ConfigurationError(f"{'; '.join(faults)}; {ADVICE}")
    for module in empty:
        print_message(f"warning: module {module} declares no job")


def find_app_port(port: int) -> int:
    """Return the first free port after that of the queue's API; raise PortInUseError if ten are in use."""
    for candidate in range(port + 1, port + 11):
        if is_free(candidate):
            return candidate
    raise PortInUseError(f"ports {port + 1} to {port + 10} are in use; choose another range with --port")
