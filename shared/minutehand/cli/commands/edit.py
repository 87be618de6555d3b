"""`minutehand edit`: change the payload or the options of jobs."""

from datetime import timedelta
from functools import partial
from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import UPCOMING, Action, change_jobs
from minutehand.cli.retry_options import retry_of, retry_options
from minutehand.cli.selection import Selection, selection_options
from minutehand.cli.values import duration, job_or_kind, parse_json
from minutehand.model.new_job import NewJob
from minutehand.operations.edit import check_edits
from minutehand.operations.edit import edit as edit_jobs

RETRY = ("strategy", "retry_min", "retry_max", "retry_factor", "no_jitter")


@click.command()
@click.option("--payload", metavar="JSON", help="New payload.")
@click.option("--headers", metavar="JSON", help="New headers; null removes them.")
@click.option("--priority", type=int, help="Priority from 0 to 9; 9 runs first.")
@click.option("--max-attempts", type=int, help="Number of attempts; 1 means no retry.")
@click.option("--timeout", type=duration, help="Timeout of an attempt, such as 90s; at most 24h.")
@click.option("--expires", type=duration, help="Expire the job if it has not started this long after run_at.")
@click.option("--no-expires", is_flag=True, help="The job never expires.")
@click.option(
    "--on-dead", metavar="JOB", type=job_or_kind, help="Create this job if the job dies: a kind, or JSON."
)
@click.option("--no-on-dead", is_flag=True, help="Create no job if the job dies.")
@retry_options
@selection_options
def edit(
    payload: str | None,
    headers: str | None,
    priority: int | None,
    max_attempts: int | None,
    timeout: timedelta | None,
    expires: timedelta | None,
    no_expires: bool,
    on_dead: NewJob | str | None,
    no_on_dead: bool,
    **options: Any,
) -> int:
    """Edit the payload or the options of upcoming jobs.

    Give IDS, pipe them in (`-`), or use filters. A running job is not changed, but reported as refused. The audit
    trail records the names of the edited fields, never a payload.

    \b
    Examples:
      minutehand edit 019c2f6e-8f0a --payload '{"email": "ada@example.com"}'
      minutehand edit --queue mail --state scheduled --priority 9 --yes
    """
    policy = retry_of(**{name: options.pop(name) for name in RETRY})
    fields: dict[str, Any] = {
        "priority": priority,
        "max_attempts": max_attempts,
        "timeout": timeout,
        "retry": policy,
    }
    fields |= {"expires": expires, "on_dead": on_dead}
    edits: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name, text in (("payload", payload), ("headers", headers)):
        if text is not None:
            edits[name] = _json(text, f"--{name}")
    for name, removed in (("expires", no_expires), ("on_dead", no_on_dead)):
        if removed and name in edits:
            raise click.UsageError(
                f"expected --{name.replace('_', '-')} or --no-{name.replace('_', '-')}, got both"
            )
        if removed:
            edits[name] = None
    if not edits:
        raise click.UsageError("expected at least one option to change, such as --priority 9, got none")
    act = partial(edit_jobs, **edits, actor=actor())
    check = partial(check_edits, **edits)
    return change_jobs(Action("edited", UPCOMING, act, check=check), Selection(**options))


def _json(text: str, hint: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise click.BadParameter(f"must be JSON: {error}", param_hint=hint) from None
