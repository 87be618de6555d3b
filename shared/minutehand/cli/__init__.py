"""The command line. Only this package, and local runs, import click and rich."""

import sys


def main() -> None:
    """Run the command that the arguments name, or print which extra is missing."""
    try:
        from minutehand.cli.app import cli
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit("error: the command line requires an extra; run: pip install 'minutehand[cli]'")
    cli(prog_name="minutehand")
