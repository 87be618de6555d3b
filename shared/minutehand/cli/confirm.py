"""Confirmation of a change to many jobs."""

import sys

import click

from minutehand.cli.output import print_message


def confirmed(consequence: str, *, yes: bool) -> bool:
    """Ask for confirmation on a terminal; elsewhere raise UsageError unless `--yes` was given."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"{consequence} Use --yes to confirm, or --dry-run to preview.")
    if click.confirm(f"{consequence} Continue?", err=True):
        return True
    print_message("Nothing was changed.")
    return False
