"""`minutehand enqueue`: enqueue one job, or the jobs of a file."""

import sys
from datetime import datetime, timedelta
from typing import Any

import click
from click.core import ParameterSource

from minutehand.cli import text
from minutehand.cli.enqueue_file import enqueue_file
from minutehand.cli.ids import GivenId, full_batch_id, full_job_id
from minutehand.cli.kinds import check_against_project, complete_kinds, warn_of_unknown
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import put_json
from minutehand.cli.retry_options import retry_of, retry_options
from minutehand.cli.times import too_late
from minutehand.cli.values import (
    batch_id,
    duration,
    job_id,
    job_or_kind,
    named_headers,
    option_time,
    parse_json,
)
from minutehand.cli.values import zone as zone_of
from minutehand.enqueue import enqueue as enqueue_one
from minutehand.errors import InvalidJobError
from minutehand.model.enqueued import Enqueued
from minutehand.queries.jobs import clock

# The options that are allowed with --file.
FILE_OPTIONS = {"file", "format", "rejects", "on_conflict", "tz", "form"}
RETRY = ("strategy", "retry_min", "retry_max", "retry_factor", "no_jitter")


@click.command()
@click.argument("kind", required=False, shell_complete=complete_kinds)
@click.argument("payload", required=False)
@click.option("--queue", help="Queue of the job.  [that of `minutehand defaults`, else default]")
@click.option("--key", help="Deduplication key: a queue has at most one upcoming job with it.")
@click.option("--group", help="Group: its jobs run one at a time, unless a limit per group allows more.")
@click.option(
    "--at", metavar="TIME", help="ISO 8601 with an offset, such as 2030-03-01T08:00:00+01:00, or with --tz."
)
@click.option("--in", "delay", type=duration, help="Delay from now, such as 90s, 10m, 2h30m or 3d.")
@tz_option
@click.option("--priority", type=int, help="Priority from 0 to 9; 9 runs first.  [5]")
@click.option("--max-attempts", type=int, help="Number of attempts; 1 means no retry.  [8]")
@click.option("--timeout", type=duration, help="Timeout of an attempt, such as 90s; at most 24h.")
@click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help="Add a header; repeatable.")
@retry_options
@click.option(
    "--on-conflict",
    type=click.Choice(["replace", "ignore", "raise", "merge"]),
    default="replace",
    show_default=True,
    help="What to do if the key has an upcoming job.",
)
@click.option(
    "--unique-while",
    type=click.Choice(["upcoming", "running"]),
    help="Hold the key until the job starts, or also while it runs.  [upcoming]",
)
@click.option(
    "--unique-for", type=duration, help="Hold the key for this time, even if the job finishes earlier."
)
@click.option("--debounce", type=duration, help="Run once the key has not been enqueued for this time.")
@click.option("--debounce-max", type=duration, help="Debounce for at most this time in total.")
@click.option("--throttle", type=duration, help="Run at least this time after the previous job with the key.")
@click.option("--expires", type=duration, help="Expire the job if it has not started this long after run_at.")
@click.option(
    "--every", metavar="WHEN", help="Recur: cron with 5 or 6 fields, @daily, or ISO 8601 such as PT1H."
)
@click.option("--zone", help="Time zone of --every, such as Europe/Berlin.  [UTC]")
@click.option(
    "--on-dead", metavar="JOB", type=job_or_kind, help="Create this job if the job dies: a kind, or JSON."
)
@click.option("--batch", metavar="ID", type=batch_id, help="Add the job to this batch.")
@click.option(
    "--after", metavar="ID", type=job_id, multiple=True, help="Run when this job has ended; repeatable."
)
@click.option(
    "--after-failure",
    type=click.Choice(["cancel", "run", "wait"]),
    help="What to do if a job of --after does not succeed.  [cancel]",
)
@click.option("--personal", is_flag=True, default=None, help="Erase the payload when the job finishes.")
@click.option("--file", metavar="PATH", help="Enqueue the jobs of an NDJSON or CSV file; - is stdin.")
@click.option(
    "--format", type=click.Choice(["ndjson", "csv"]), help="Format of the file.  [from its extension]"
)
@click.option(
    "--rejects", metavar="PATH", help="Write rejected lines with reasons to this file, not to stderr."
)
@output_option("table", "json", "ids")
@tenant_option
@connection_options
@click.pass_context
def enqueue(
    ctx: click.Context, /, kind: str | None, file: str | None, tz: str | None, form: str, **options: Any
) -> int | None:
    """Enqueue one job: its KIND and its PAYLOAD, which is JSON (- reads it from stdin).

    With --file, enqueue many: NDJSON with one object per line, or CSV with a header. The fields are kind, payload,
    queue, key, group, run_at, delay, priority, max_attempts, retry, timeout, headers, and the other options, such as
    every or unique_for. An invalid line is rejected with its number, and the others are enqueued; the exit code is then
    1. Memory use does not depend on the size of the file.

    An option that you omit has the default of the kind, else of the queue (`minutehand defaults`). The options of @job
    apply only to jobs that are enqueued through the decorated function.

    \b
    Examples:
      minutehand enqueue welcome '{"email": "ada@example.com"}' --in 10m
      minutehand enqueue report --at 2030-03-01T08:00 --tz Europe/Berlin
      minutehand enqueue report --key report --every '0 8 * * mon'
      minutehand enqueue index '[47]' --key i --on-conflict merge --debounce 10s
      minutehand enqueue --file jobs.ndjson --rejects rejects.ndjson
      generate | minutehand enqueue --file - --format csv
    """
    check_against_project()
    if file is not None:
        _check_file_options(ctx)
        return enqueue_file(
            file, options["format"], options["rejects"], zone_of(tz), options["on_conflict"], form
        )
    if kind is None:
        raise click.UsageError("expected KIND or --file, got neither")
    if [options.pop("format"), options.pop("rejects")] != [None, None]:
        raise click.UsageError("--format and --rejects require --file")
    _enqueue_one(kind, tz, form, **options)
    return None


def _enqueue_one(
    kind: str,
    tz: str | None,
    form: str,
    *,
    payload: str | None,
    at: str | None,
    delay: timedelta | None,
    headers: tuple[str, ...],
    after: tuple[GivenId, ...],
    batch: GivenId | None,
    **options: Any,
) -> None:
    if at is not None and delay is not None:
        raise click.UsageError("expected --at or --in, got both")
    if tz is not None and at is None:
        raise click.UsageError("--tz is the zone of --at; for the zone of --every, use --zone")
    if options["zone"] is not None and options["every"] is None:
        raise click.UsageError("--zone requires --every; for the zone of --at, use --tz")
    options |= {
        "run_at": None if at is None else option_time(at, tz, "--at"),
        "delay": delay,
        "retry": retry_of(**{name: options.pop(name) for name in RETRY}),
        "headers": named_headers(headers),
    }
    value = _payload(payload)
    warn_of_unknown(kind)
    with open_database() as database:
        options["after"] = [full_job_id(database, each) for each in after] or None
        options["batch"] = None if batch is None else full_batch_id(database, batch)
        try:
            enqueued = enqueue_one(kind, value, **options, connection=database)
        except InvalidJobError as error:
            if delay is not None and error.rule in ("time_is_finite", "number_is_in_range"):
                raise too_late("--in") from None
            raise
        if form == "table":
            now = clock(database)
            click.echo(f"{enqueued.outcome} {enqueued.id}, due {_due(enqueued, options['run_at'], now)}")
        else:
            _put(enqueued, form)


def _due(enqueued: Enqueued, run_at: datetime | None, now: datetime) -> str:
    if enqueued.visible > now:
        return text.ago(enqueued.visible, now)
    if run_at is not None and run_at < enqueued.visible:
        return f"now, because {text.local(run_at)} is in the past"
    return "now"


def _put(enqueued: Enqueued, form: str) -> None:
    if form == "ids":
        click.echo(str(enqueued.id))
    else:
        put_json({"outcome": enqueued.outcome, "id": enqueued.id, "visible": enqueued.visible})


def _payload(argument: str | None) -> Any:
    if argument is None:
        return None
    if argument == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed; expected the payload from it")
    try:
        return parse_json(sys.stdin.buffer.read() if argument == "-" else argument)
    except ValueError as error:
        raise click.BadParameter(
            f"must be JSON: {error}; write a string with both quotes, as '\"hello\"'", param_hint="PAYLOAD"
        ) from None


def _check_file_options(ctx: click.Context) -> None:
    for parameter in ctx.command.params:
        name = parameter.name
        if name is None or name not in ctx.params or name in FILE_OPTIONS:
            continue
        if ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT):
            given = parameter.opts[0] if isinstance(parameter, click.Option) else name.upper()
            raise click.UsageError(f"{given} must not be combined with --file; set it in the file")
