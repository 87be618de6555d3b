"""`minutehand promote`: make jobs due now."""

from functools import partial
from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import UPCOMING, Action, change_jobs
from minutehand.cli.selection import Selection, selection_options
from minutehand.operations import jobs


@click.command()
@selection_options
def promote(**selection: Any) -> int:
    """Make upcoming jobs due now.

    Give IDS, pipe them in (`-`), or use filters. A running job is not changed, but reported as refused.

    \b
    Examples:
      minutehand promote 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand promote --state retrying --kind welcome --yes
    """
    act = partial(jobs.promote, actor=actor())
    return change_jobs(Action("promoted", UPCOMING, act), Selection(**selection))
