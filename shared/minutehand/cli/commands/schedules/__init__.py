"""`minutehand schedules`: list, preview and change schedules."""

import click

from minutehand.cli.commands.schedules.delete import delete
from minutehand.cli.commands.schedules.install import install
from minutehand.cli.commands.schedules.ls import ls
from minutehand.cli.commands.schedules.pause import pause
from minutehand.cli.commands.schedules.preview import preview
from minutehand.cli.commands.schedules.put import put
from minutehand.cli.commands.schedules.resume import resume
from minutehand.cli.commands.schedules.run import run
from minutehand.cli.commands.schedules.show import show


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


for command in (delete, install, ls, pause, preview, put, resume, run, show):
    schedules.add_command(command)
