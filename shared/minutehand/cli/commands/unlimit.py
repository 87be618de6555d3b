"""`minutehand unlimit`: remove a limit."""

from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import open_database
from minutehand.cli.scope import check_named, per_option, put_ended, scope_options
from minutehand.operations import controls


@click.command()
@per_option
@scope_options
def unlimit(form: str, **scope: Any) -> int:
    """Remove the limit that was set with the same options.

    \b
    Examples:
      minutehand unlimit --kind report
      minutehand unlimit --per group --queue sync
    """
    check_named(scope, last="--per")
    with open_database() as database:
        return put_ended(controls.unlimit(database, **scope, actor=actor()), "limited", form)
