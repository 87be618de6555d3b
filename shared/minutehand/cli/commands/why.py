"""`minutehand why`: the reason why a job, or the earliest job of a queue, has not finished."""

from contextlib import suppress
from datetime import datetime, tzinfo

import click

from minutehand.cli.ids import full_job_id
from minutehand.cli.keys import by_key
from minutehand.cli.once import filter_option
from minutehand.cli.options import (
    connection_options,
    open_database,
    output_option,
    tenant_option,
    zone_option,
)
from minutehand.cli.output import put_json, put_lines, wrapped, wrapped_instructions
from minutehand.cli.text import safe
from minutehand.cli.values import ShortId, job_id, zone
from minutehand.database import Database
from minutehand.errors import NotFoundError
from minutehand.queries.why import Answer, why_key, why_latest, why_queue
from minutehand.queries.why import why as why_job


@click.command()
@click.argument("target", metavar="[JOB|QUEUE]", required=False)
@filter_option("--key", help="Explain the job with this key.")
@filter_option("--queue", default="default", show_default=True, help="The queue of the key.")
@zone_option("Time zone of the times of a job without a zone, such as Europe/Berlin.  [that of this machine]")
@output_option("table", "json")
@tenant_option
@connection_options
def why(target: str | None, key: str | None, queue: str, tz: str | None, form: str) -> None:
    """Explain why a job has not finished, in one sentence, and what to do next.

    With a queue name, explain the longest-overdue job of this queue. Without an argument, explain the longest-overdue
    job of all queues; jobs of paused queues come last.

    \b
    Examples:
      minutehand why 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand why --key welcome/ada --queue mail
      minutehand why mail
      minutehand why
    """
    with open_database() as database:
        answer = _answer(database, target, key, queue, tz)
    if form == "json":
        put_json(vars(answer))
        return
    put_lines(_lines(answer))


def _lines(answer: Answer) -> list[str]:
    head = f"{answer.kind} in {answer.queue}, {answer.state} ({answer.job})"
    step = wrapped_instructions(safe(f"Next: {answer.next_step}"), "  ") if answer.next_step else []
    return [*wrapped(safe(head)), *wrapped(safe(answer.sentence), "  "), *step]


def _answer(database: Database, target: str | None, key: str | None, queue: str, tz: str | None) -> Answer:
    times = zone(tz) or datetime.now().astimezone().tzinfo
    match target, key:
        case None, None:
            return why_latest(database, zone=times)
        case None, str():
            return by_key(database, queue, key, lambda: why_key(database, queue, key, zone=times))
        case str(), None:
            return _answer_for(database, target, times)
    raise click.UsageError("expected a job's ID, the name of a queue, or --key, got two of them")


def _answer_for(database: Database, target: str, times: tzinfo | None) -> Answer:
    """Explain a job or a queue. The name of a queue may look like the first digits of an id."""
    try:
        given = job_id(target)
    except click.BadParameter:
        return why_queue(database, target, zone=times)
    try:
        return why_job(database, full_job_id(database, given), zone=times)
    except NotFoundError as missing:
        if isinstance(given, ShortId):
            with suppress(NotFoundError):
                return why_queue(database, target, zone=times)
        raise missing
