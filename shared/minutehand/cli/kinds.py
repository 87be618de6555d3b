"""Kinds: those of the handlers in this folder, for shell completion and corrections. No handler is imported."""

import sys
from pathlib import Path

import click

from minutehand.cli.output import print_message
from minutehand.errors import MinutehandError
from minutehand.handlers import DEFAULT_PACKAGE
from minutehand.kinds.check import BUILT_IN
from minutehand.kinds.index import known_kinds
from minutehand.model.suggestion import closest
from minutehand.project.configuration import read_configuration
from minutehand.settings.table import HANDLERS

UNREADABLE = (MinutehandError, OSError, SyntaxError, ValueError)
# Where a project has the modules of its handlers.
FOLDERS = (".", "functions/worker")


def complete_kinds(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the kinds that begin with a text; none if a file of a handler cannot be read."""
    add_folders()
    try:
        kinds = sorted({*_kinds(), *BUILT_IN})
    except UNREADABLE:
        return []
    return [kind for kind in kinds if kind.startswith(incomplete)]


def check_against_project() -> None:
    """Let this process reject jobs that the handlers of this folder's project could not run."""
    add_folders()
    if modules := project_modules():
        HANDLERS.override(",".join(modules))


def warn_of_unknown(kind: str) -> None:
    """Print a correction if a kind resembles one of this folder and has no handler in it.

    Kinds that no module of MINUTEHAND_HANDLERS has are rejected instead.
    """
    if HANDLERS.read():
        return
    add_folders()
    try:
        kinds = _kinds()
    except UNREADABLE:
        return
    if kinds and kind not in {*kinds, *BUILT_IN} and (close := closest(kind, kinds)):
        print_message(f"no handler of kind {kind!r} is in this folder; did you mean {close!r}?")


def add_folders() -> None:
    """Let this process find the modules of a project, as `python -m` does."""
    for folder in map(str, map(Path.resolve, map(Path, FOLDERS))):
        if folder not in sys.path:
            sys.path.append(folder)


def project_modules() -> tuple[str, ...]:
    """Return the modules of MINUTEHAND_HANDLERS, else those that the files of this folder's project name."""
    return HANDLERS.read() or read_configuration(Path.cwd()).handlers


def _kinds() -> set[str]:
    return known_kinds((*project_modules(), DEFAULT_PACKAGE))
