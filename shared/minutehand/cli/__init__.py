"""The command line. Only this package, and local runs, import click and rich."""

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, name: str = "minutehand") -> None:
    """Run a command, by default that of the process's arguments, or print which extra is missing; then exit."""
    try:
        from minutehand.cli.app import cli
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit("error: the command line requires an extra; run: pip install 'minutehand[cli]'")
    except KeyboardInterrupt:
        # Ctrl-C during the import; the command line handles it from then on.
        sys.exit(INTERRUPTED)
    cli(arguments, prog_name=name)
