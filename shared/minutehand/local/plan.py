"""Plan: what a local run runs, and whether it can start."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from minutehand.kinds.index import files
from minutehand.local.errors import LocalError, PortInUseError
from minutehand.local.home import is_free, listen
from minutehand.project.configuration import Configuration, read_configuration
from minutehand.project.link import PLACE, link_stack
from minutehand.project.lock import NAME
from minutehand.settings import sleeps
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
            f"{root} does not name modules with jobs; use --handlers MODULE, or create a project: minutehand init NAME"
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


def find_app_port(port: int) -> int:
    """Return the first free port after that of the queue's API; raise PortInUseError if ten are in use."""
    for candidate in range(port + 1, port + 11):
        if is_free(candidate):
            return candidate
    raise PortInUseError(f"ports {port + 1} to {port + 10} are in use; choose another range with --port")
