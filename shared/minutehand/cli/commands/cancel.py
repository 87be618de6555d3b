"""`minutehand cancel`: end jobs and keep them in the history."""

from functools import partial
from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import UPCOMING, Action, change_jobs
from minutehand.cli.selection import Selection, selection_options
from minutehand.operations import jobs

INSTEAD = {"running": "; to ask running jobs to stop, use --running"}


@click.command()
@click.option("--reason", default="on request", show_default=True, help="Reason, shown in the job's history.")
@click.option("--running", is_flag=True, help="Also ask running jobs to stop at their next check.")
@selection_options
def cancel(reason: str, running: bool, **selection: Any) -> int:
    """Cancel upcoming jobs; they stay in the history.

    Give IDS, pipe them in (`-`), or use filters. Running jobs are refused; with --running, they are asked to stop.

    \b
    Examples:
      minutehand cancel 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand cancel --queue mail --kind newsletter --reason "wrong text"
    """
    possible = (*UPCOMING, "running") if running else UPCOMING
    act = partial(jobs.cancel, reason=reason, running=running, actor=actor())
    return change_jobs(Action("cancelled", possible, act, instead=INSTEAD), Selection(**selection))
