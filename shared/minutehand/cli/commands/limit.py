"""`minutehand limit`: limit how many jobs run at once."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import open_database
from minutehand.cli.scope import put_control, scope_options
from minutehand.operations import controls


@click.command()
@click.argument("jobs", type=click.IntRange(0))
@click.option("--reason", help="Reason, shown in `controls` and the audit trail.")
@scope_options
def limit(jobs: int, reason: str | None, form: str, **scope: str) -> None:
    """Limit a queue, kind, key or tenant to this number of JOBS offered or running at once.

    With several options, the limit is for the jobs that match all of them.

    \b
    Examples:
      minutehand limit 2 --kind report
      minutehand limit 1 --queue mail --key customer/4711
    """
    with open_database() as database:
        put_control(controls.limit(database, jobs, **scope, reason=reason, actor=actor()), form)
