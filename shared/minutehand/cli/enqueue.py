"""`minutehand enqueue`: one job by arguments, or many by file."""

import sys
from datetime import timedelta
from typing import Any

import click
from click.core import ParameterSource

from minutehand.cli import text
from minutehand.cli.bulk import enqueue_file
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import put_json
from minutehand.cli.policy import retry_of, retry_options
from minutehand.cli.values import duration, option_moment, parse_json
from minutehand.cli.values import zone as zone_of
from minutehand.enqueue import enqueue as enqueue_one
from minutehand.model.enqueued import Enqueued
from minutehand.model.new_job import OnConflict, UniqueWhile
from minutehand.model.retry import Retry
from minutehand.queries.jobs import clock

WITH_A_FILE = {"file", "format", "rejects", "on_conflict", "tz", "form"}


@click.command()
@click.argument("kind", required=False)
@click.argument("payload", required=False)
@click.option("--queue", help="The queue; else the kind's, else `default`.")
@click.option("--key", help="Names one upcoming job of the queue.")
@click.option(
    "--at", metavar="MOMENT", help="ISO 8601 with an offset, as 2026-03-01T08:00:00+01:00, or with --tz."
)
@click.option("--in", "delay", type=duration, help="From now, as 90s, 10m, 2h30m, 3d.")
@tz_option
@click.option("--priority", type=int, help="0 to 9; 9 goes first.  [5]")
@click.option("--max-attempts", type=int, help="How many attempts there are; 1 is no retry.  [8]")
@click.option("--timeout", type=duration, help="How long an attempt may take, as 90s; at most 24h.")
@click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help="Repeatable.")
@retry_options
@click.option(
    "--on-conflict",
    type=click.Choice(["replace", "ignore", "raise", "merge"]),
    default="replace",
    show_default=True,
    help="What happens when the key has an upcoming job.",
)
@click.option(
    "--unique-while",
    type=click.Choice(["upcoming", "running"]),
    help="How long the key is taken: not while a job of it runs, or then, too.  [upcoming]",
)
@click.option(
    "--unique-for", type=duration, help="The key is taken for that long, whatever becomes of the job."
)
@click.option("--debounce", type=duration, help="It waits until nobody has enqueued it for that long.")
@click.option("--debounce-max", type=duration, help="But not for longer than that in all.")
@click.option("--throttle", type=duration, help="It waits until that long after the one before of its key.")
@click.option(
    "--every", metavar="WHEN", help="It recurs: cron of 5 or 6 fields, @daily, or ISO 8601 as PT1H."
)
@click.option("--zone", help="The time zone of --every, as Europe/Berlin.  [UTC]")
@click.option("--personal", is_flag=True, default=None, help="Clear its payload once it is finished.")
@click.option("--file", metavar="PATH", help="Enqueue many: a file of NDJSON or CSV, or - for stdin.")
@click.option(
    "--format", type=click.Choice(["ndjson", "csv"]), help="The file's format, if its ending does not tell."
)
@click.option(
    "--rejects", metavar="PATH", help="Write rejected lines' numbers and reasons here, not to stderr."
)
@output_option("table", "json", "ids")
@tenant_option
@connection_options
@click.pass_context
def enqueue(
    ctx: click.Context, /, kind: str | None, file: str | None, tz: str | None, form: str, **said: Any
) -> int | None:
    """Enqueue one job: its KIND and its PAYLOAD, which is JSON (- reads it from stdin).

    Or many with --file: NDJSON with an object a line, or CSV with a header, whose fields are kind, payload,
    queue, key, run_at, delay, priority, max_attempts, retry, timeout, headers, and what is an option here, as
    every or unique_for. A line that cannot be a job is told with its number, and the others go on; the exit
    code is then 1. Memory does not grow with the file.

    \b
    Examples:
      minutehand enqueue welcome '{"email": "ada@example.com"}' --in 10m --key welcome/ada
      minutehand enqueue report --at 2026-03-01T08:00 --tz Europe/Berlin --header tenant=7
      minutehand enqueue report --key report --every '0 8 * * mon' --zone Europe/Berlin
      minutehand enqueue index '[4711]' --key index --on-conflict merge --debounce 10s --debounce-max 5m
      minutehand enqueue --file jobs.ndjson --rejects rejects.ndjson
      generate | minutehand enqueue --file - --format csv
    """
    if file is not None:
        _only_with_a_file(ctx)
        return enqueue_file(file, said["format"], said["rejects"], zone_of(tz), said["on_conflict"], form)
    if kind is None:
        raise click.UsageError("name the KIND of the job, or say --file")
    if [said.pop("format"), said.pop("rejects")] != [None, None]:
        raise click.UsageError("--format and --rejects go with --file")
    _enqueue_one(kind, tz, form, **said)
    return None


def _enqueue_one(
    kind: str, tz: str | None, form: str, *, payload: str | None, at: str | None, delay: timedelta | None,
    headers: tuple[str, ...], queue: str | None, key: str | None, priority: int | None, max_attempts: int | None,
    timeout: timedelta | None, every: str | None, zone: str | None, personal: bool | None, on_conflict: OnConflict,
    unique_while: UniqueWhile | None, unique_for: timedelta | None, debounce: timedelta | None,
    debounce_max: timedelta | None, throttle: timedelta | None, **retry: Any,
) -> None:  # fmt: skip
    if at is not None and delay is not None:
        raise click.UsageError("say --at or --in, not both")
    run_at = None if at is None else option_moment(at, tz, "--at")
    strategy: Retry | None = retry_of(**retry)
    value, named = _payload(payload), _headers(headers)
    with open_database() as database:
        enqueued = enqueue_one(
            kind, value, queue=queue, key=key, run_at=run_at, delay=delay, priority=priority, max_attempts=max_attempts,
            retry=strategy, timeout=timeout, headers=named, every=every, zone=zone, personal=personal,
            on_conflict=on_conflict, unique_while=unique_while, unique_for=unique_for, debounce=debounce,
            debounce_max=debounce_max, throttle=throttle, connection=database,
        )  # fmt: skip
        if form == "table":
            now = clock(database)
            due = text.ago(enqueued.visible, now) if enqueued.visible > now else "now"
            click.echo(f"{enqueued.outcome} {enqueued.id}, due {due}")
        else:
            _put(enqueued, form)


def _put(enqueued: Enqueued, form: str) -> None:
    if form == "ids":
        click.echo(str(enqueued.id))
    else:
        put_json({"outcome": enqueued.outcome, "id": enqueued.id, "visible": enqueued.visible})


def _payload(given: str | None) -> Any:
    if given is None:
        return None
    if given == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed, and the payload was to come from there")
    try:
        return parse_json(sys.stdin.buffer.read() if given == "-" else given)
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; a text is quoted twice, as '\"hello\"'", param_hint="PAYLOAD is not JSON"
        ) from None


def _headers(given: tuple[str, ...]) -> dict[str, str] | None:
    headers: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name or name in headers:
            raise click.BadParameter(f"{each!r}: write NAME=VALUE, and each name once", param_hint="--header")
        headers[name] = value
    return headers or None


def _only_with_a_file(ctx: click.Context) -> None:
    for name in ctx.params.keys() - WITH_A_FILE:
        if ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT):
            raise click.UsageError(f"with --file, a line says its own {name}")
