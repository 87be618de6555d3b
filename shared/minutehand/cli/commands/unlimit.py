"""`minutehand unlimit`: remove a limit."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import open_database
from minutehand.cli.scope import put_ended, scope_options
from minutehand.operations import controls


@click.command()
@scope_options
def unlimit(form: str, **scope: str) -> int:
    """Remove the limit that was set with the same options.

    \b
    Examples:
      minutehand unlimit --kind report
    """
    with open_database() as database:
        return put_ended(controls.unlimit(database, **scope, actor=actor()), "limited", form)
