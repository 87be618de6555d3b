"""A question before many rows change, which a script answers with --yes."""

import sys

import click

from minutehand.cli.output import say


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask on a terminal; elsewhere nobody can answer, and the command line has to have said so."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"{question} Say --yes, or look first with --dry-run.")
    if click.confirm(f"{question} Go on?", err=True):
        return True
    say("Nothing was changed.")
    return False
