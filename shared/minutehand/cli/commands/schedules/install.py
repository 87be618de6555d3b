"""`minutehand schedules install`: write the schedules that a module declares."""

import click

from minutehand import schedules as library
from minutehand.cli.kinds import add_folders
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message, put_json
from minutehand.schedules import Installed
from minutehand.settings import code_version


@click.command(short_help="Install the schedules that a module declares.")
@click.argument("place", metavar="MODULE[:NAME]")
@click.option("--source", default="code", show_default=True, help="Name of the source of these schedules.")
@click.option("--version", help="Version of the code; a new one fires @reboot again.  [MINUTEHAND_VERSION]")
@output_option("table", "json")
@tenant_option
@connection_options
def install(place: str, source: str, version: str | None, form: str) -> int:
    """Replace the schedules of a source with those that a Python module declares.

    Unchanged schedules keep their next occurrence; schedules that are no longer declared are deleted. A schedule is
    not installed if another source has one of the same name; the exit code is then 1.
    """
    add_folders()
    declared = library.load(place)
    with open_database() as database:
        installed = library.install(database, declared, source, version=version or code_version())
    if form == "json":
        put_json(installed)
    else:
        print_message(_summary(installed))
    for name in installed.refused:
        print_message(
            f"error: schedule {name!r} exists and was not installed by {source!r}; delete it, or rename yours"
        )
    return 1 if installed.refused else 0


def _summary(installed: Installed) -> str:
    counts = {
        outcome: getattr(installed, outcome) for outcome in ("added", "changed", "unchanged", "removed")
    }
    return ", ".join(f"{len(names)} {outcome}" for outcome, names in counts.items())
