"""`minutehand schedules`: list, preview and change schedules."""

import click

from minutehand.cli.commands.schedules.change import install, pause, resume, rm, run
from minutehand.cli.commands.schedules.put import put
from minutehand.cli.commands.schedules.read import ls, preview, show


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def schedules() -> None:
    """List and change schedules.

    \b
    Examples:
      minutehand schedules put report '0 8 * * mon' report '{"n": 1}'
      minutehand schedules preview '30 2 * * *' --zone America/Los_Angeles -n 4
      minutehand schedules ls
      minutehand schedules install our.schedules:SCHEDULES
    """


for command in (install, ls, pause, preview, put, resume, rm, run, show):
    schedules.add_command(command)
