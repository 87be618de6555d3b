"""`minutehand show`: one job's life, told from its moments."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json
from minutehand.cli.values import job_id
from minutehand.read import Row, clock, get
from minutehand.retry import Retry

MASKED = ("payload", "headers", "result")


@click.command()
@click.argument("id", type=job_id)
@click.option(
    "--payload", "unmasked", is_flag=True, help="Show payload, headers and result, which may be private."
)
@output_option("table", "json")
@connection_options
def show(id: UUID, unmasked: bool, form: str) -> None:
    """Show all that is known of the job ID.

    Payload, headers and result are masked unless you ask for them with --payload.

    \b
    Examples:
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --payload -o json
    """
    with open_database() as database:
        row, now = get(database, id), clock(database)
    if form == "json":
        known = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
        put_json({name: value for name, value in known.items() if unmasked or name not in MASKED})
        return
    for line in [*_head(row, now), *_timeline(row, now), *_facts(row, unmasked), *_error(row)]:
        click.echo(text.safe(line))


def _head(row: Row, now: datetime) -> Iterator[str]:
    yield f"{row.kind} in {row.queue}, {text.state(row, now)}"
    yield _fact("id", str(row.id))
    if row.key is not None:
        yield _fact("key", row.key)


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
    return f"  {name + ':':<12}{value}"
