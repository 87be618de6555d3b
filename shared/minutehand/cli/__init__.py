"""The command line: every verb of the queue, for people and for pipes; only this package knows click and rich."""

import sys


def main() -> None:
    """Run the command that the arguments name, or say what is missing to do so."""
    try:
        from minutehand.cli.verbs import cli
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit("error: the command line is an extra; run: pip install 'minutehand[cli]'")
    cli(prog_name="minutehand")
