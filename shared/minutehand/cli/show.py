"""`minutehand show`: one job's life, told from its moments."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json
from minutehand.cli.values import job_id
from minutehand.database import Database
from minutehand.errors import ForbiddenError
from minutehand.model.retry import Retry
from minutehand.operations.controls import list_controls
from minutehand.queries.jobs import FINISHED, Attempt, Row, clock, get, get_by_key, list_attempts

MASKED = ("payload", "headers", "result")


@click.command()
@click.argument("id", type=job_id, required=False)
@click.option(
    "--key", help="In place of the ID: the key of its upcoming job, else the running, else the last one."
)
@click.option("--queue", default="default", show_default=True, help="The queue of the key.")
@click.option(
    "--payload", "unmasked", is_flag=True, help="Show payload, headers and result, which may be private."
)
@output_option("table", "json")
@tenant_option
@connection_options
def show(id: UUID | None, key: str | None, queue: str, unmasked: bool, form: str) -> None:
    """Show all that is known of the job ID, with every attempt at it.

    Payload, headers and result are masked unless you ask for them with --payload.

    \b
    Examples:
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand show --key welcome/ada
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --payload -o json
    """
    with open_database() as database:
        row, now = _find(database, id, queue, key), clock(database)
        attempts = list_attempts(database, row.id)
        pauses = _pauses(database, row)
    if form == "json":
        known = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
        told = {name: value for name, value in known.items() if unmasked or name not in MASKED}
        history = [each if unmasked else dataclasses.replace(each, result=None) for each in attempts]
        put_json(told | {"history": history})
        return
    lines = [*_head(row, now), *pauses, *_timeline(row, now), *_facts(row, unmasked), *_error(row)]
    for line in [*lines, *_attempts(attempts)]:
        click.echo(text.safe(line))


def _find(database: Database, job_id: UUID | None, queue: str, key: str | None) -> Row:
    if (job_id is None) == (key is None):
        raise click.UsageError("say the job's ID, or its --key")
    return get_by_key(database, queue, key) if job_id is None and key is not None else get(database, job_id)  # type: ignore[arg-type]


def _pauses(database: Database, row: Row) -> list[str]:
    """Tell what keeps a job that waits from being offered, where the caller may know that."""
    if row.state in FINISHED or row.state == "running":
        return []
    try:
        pauses = [each for each in list_controls(database) if each.paused and each.concerns(row)]
    except ForbiddenError:
        return []
    return [_fact("paused", each.told + (f": {each.why}" if each.why else "")) for each in pauses]


def _attempts(attempts: list[Attempt]) -> Iterator[str]:
    """Tell every attempt that has ended, each in a line."""
    for number, each in enumerate(attempts):
        where = " ".join(
            filter(None, [each.worker, each.version and f"version {each.version}", each.request])
        )
        why = f": {text.error_line(each.error)}" if each.error else ""
        took = text.span(each.ended - each.started)
        told = (
            f"{text.local(each.started)}, {each.outcome} after {took}{f' by {where}' if where else ''}{why}"
        )
        yield _fact("history" if number == 0 else "", f"{each.attempt}. {told}")


def _head(row: Row, now: datetime) -> Iterator[str]:
    yield f"{row.kind} in {row.queue}, {text.state(row, now)}"
    yield _fact("id", str(row.id))
    for name in ("key", "tenant", "version", "every", "zone", "schedule"):
        if value := getattr(row, name):
            yield _fact(name, str(value))


def _timeline(row: Row, now: datetime) -> Iterator[str]:
    """Tell the moments in the order in which they came or will come."""
    waits = "lease ends" if row.state == "running" else "offer ends" if row.state == "offered" else "visible"
    moments = {
        "enqueued": row.enqueued, "to run at": row.run_at, "offered": row.offered, "claimed": row.claimed,
        "finished": row.deleted, waits: None if row.deleted else row.visible,
    }  # fmt: skip
    known = [(moment, name) for name, moment in moments.items() if moment is not None]
    for moment, name in sorted(known, key=lambda each: each[0]):
        yield _fact(name, f"{text.local(moment)} ({text.ago(moment, now)})")


def _facts(row: Row, unmasked: bool) -> Iterator[str]:
    yield _fact("attempts", f"{row.attempts} of {row.max_attempts}")
    yield _fact("priority", f"{row.priority}")
    yield _fact("retries", retry_text(Retry.from_json(row.retry)))
    if row.timeout:
        yield _fact("timeout", text.span(row.timeout))
    for name in MASKED:
        value = getattr(row, name)
        if value is not None or name == "payload":
            yield _fact(
                name,
                json.dumps(value, ensure_ascii=False) if unmasked else f"{_mask(value)} (--payload shows it)",
            )


def _error(row: Row) -> Iterator[str]:
    if row.error:
        yield _fact("error", f"{row.error.get('type', '')}: {row.error.get('message', '')}")
        for line in row.error.get("trace", "").splitlines():
            yield f"    {line}"


def retry_text(retry: Retry) -> str:
    """Return a retry strategy in words."""
    jitter = "with jitter" if retry.jitter else "without jitter"
    if retry.strategy == "fixed":
        return f"fixed, after {text.span(retry.min)}, {jitter}"
    return f"{retry.strategy} from {text.span(retry.min)} to {text.span(retry.max)}, factor {retry.factor:g}, {jitter}"


def _mask(value: Any) -> str:
    size = f"{len(json.dumps(value, ensure_ascii=False).encode('utf-8', 'replace'))} bytes"
    match value:
        case dict():
            return f"an object of {len(value)}, {size}"
        case list():
            return f"an array of {len(value)}, {size}"
        case None:
            return "null"
        case str():
            return f"text, {size}"
        case bool():
            return "a boolean"
    return "a number"


def _fact(name: str, value: str) -> str:
    return f"  {name + ':' if name else '':<12}{value}"
