"""`minutehand link`: link the stack of the installed version into a project."""

from pathlib import Path

import click

from minutehand.cli.output import print_message
from minutehand.project.errors import ProjectError
from minutehand.project.link import PLACE, link_stack
from minutehand.project.lock import NAME


@click.command()
def link() -> None:
    """Link .minutehand/stack to the stack of the installed version, which `sam build` reads.

    Run it before `sam build` in a new clone and in CI, and after Python or the environment has moved. Nothing else
    is changed.

    \b
    Examples:
      minutehand link && sam build
    """
    root = Path()
    if not (root / NAME).is_file():
        raise ProjectError(
            f"{root.resolve()} is not a project (it has no {NAME}); run this in the folder of a project"
        )
    print_message(f"{PLACE} {link_stack(root) or 'is up to date'}")
