"""`minutehand show`: a job with its times, options and attempts."""

import dataclasses
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.ids import GivenId, full_job_id
from minutehand.cli.keys import by_key
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_lines, wrapped
from minutehand.cli.paging import all_pages
from minutehand.cli.values import job_id
from minutehand.database import Database
from minutehand.errors import ForbiddenError
from minutehand.model.retry import Retry
from minutehand.model.row import FINISHED, Attempt, Row, without_trace
from minutehand.model.stored import dump
from minutehand.operations.controls import list_controls
from minutehand.queries.jobs import clock, get, get_by_key, list_attempts
from minutehand.queries.offers import UnclaimedOffers, unclaimed_offers

VALUE_PLACE = 14
MASKED = ("payload", "headers", "result", "on_dead")


@click.command()
@click.argument("id", type=job_id, required=False)
@filter_option(
    "--key", help="Show the job with this key: the upcoming one, else the running one, else the last."
)
@filter_option("--queue", default="default", show_default=True, help="The queue of the key.")
@click.option("--payload", "unmasked", is_flag=True, help="Show payload, headers, result and trace.")
@output_option("table", "json")
@tenant_option
@connection_options
def show(id: GivenId | None, key: str | None, queue: str, unmasked: bool, form: str) -> None:
    """Show a job, its attempts, and its offers that no worker claimed.

    Payload, headers, result and trace may be private, and are masked without --payload.

    \b
    Examples:
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand show --key welcome/ada --queue mail
      minutehand show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --payload -o json
    """
    with open_database() as database:
        row, now = _find(database, id, queue, key), clock(database)
        attempts, unclaimed = list_attempts(database, row.id), unclaimed_offers(database, row.id)
        pauses = _pauses(database, row)
    if form == "json":
        _put_json(row, attempts, unclaimed, unmasked)
        return
    lines = [*_head(row, now), *pauses, *_timeline(row, now), *_facts(row, unmasked)]
    lines += [*_error(row, unmasked), *_unclaimed(unclaimed), *_attempts(attempts)]
    put_lines(part for line in lines for part in _fitted(text.safe(line)))


def _fitted(line: str) -> list[str]:
    """Return a line in lines that fit the terminal: a fact's further lines are indented like its value."""
    indent = line[: len(line) - len(line.lstrip())]
    return wrapped(line.lstrip(), indent, " " * VALUE_PLACE if len(indent) == 2 else indent)


def _find(database: Database, given: GivenId | None, queue: str, key: str | None) -> Row:
    if key is not None and given is None:
        return by_key(database, queue, key, lambda: get_by_key(database, queue, key))
    if given is not None and key is None:
        return get(database, full_job_id(database, given))
    raise click.UsageError(f"expected ID or --key, got {'both' if key is not None else 'neither'}")


def _put_json(row: Row, attempts: list[Attempt], unclaimed: UnclaimedOffers, unmasked: bool) -> None:
    fields, history = dict(vars(row)), attempts
    if not unmasked:
        fields = {name: value for name, value in fields.items() if name not in MASKED}
        fields["error"] = without_trace(row.error)
        history = [
            dataclasses.replace(each, result=None, error=without_trace(each.error)) for each in attempts
        ]
    put_json(fields | {"history": history, "unclaimed": unclaimed})


def _pauses(database: Database, row: Row) -> list[str]:
    """Return the pauses that keep a pending job from being offered, if the caller may see them."""
    if row.state in FINISHED or row.state == "running":
        return []
    try:
        controls = all_pages(partial(list_controls, database), lambda control: control.place)
        pauses = [each for each in controls if each.paused and each.applies_to(row)]
    except ForbiddenError:
        return []
    return [_fact("paused", each.scope + (f": {each.reason}" if each.reason else "")) for each in pauses]


def _unclaimed(unclaimed: UnclaimedOffers) -> Iterator[str]:
    if earlier := unclaimed.count - len(unclaimed.latest):
        yield _fact("unclaimed", f"{earlier} earlier unclaimed offer{'s' * (earlier != 1)}")
    for number, each in enumerate(unclaimed.latest):
        line = f"{text.local(each.offered)}, {each.outcome} after {text.took(each.ended - each.offered)}"
        yield _fact("unclaimed" if number == 0 and not earlier else "", line)


def _attempts(attempts: list[Attempt]) -> Iterator[str]:
    for number, each in enumerate(attempts):
        version = each.version and f"version {each.version}"
        where = " ".join(filter(None, [each.worker, version, each.request]))
        error = f": {text.error_line(each.error)}" if each.error else ""
        took = text.took(each.ended - each.started)
        outcome = f"{each.outcome} after {took}{f' by {where}' if where else ''}{error}"
        line = f"{each.attempt}. {text.local(each.started)}, {outcome}"
        yield _fact("history" if number == 0 else "", line)


def _head(row: Row, now: datetime) -> Iterator[str]:
    yield f"{row.kind} in {row.queue}, {text.state(row, now)}"
    yield _fact("id", str(row.id))
    for name in ("key", "group", "tenant", "version", "every", "zone", "schedule", "batch"):
        if value := getattr(row, name):
            yield _fact(name, str(value))
    if row.after:
        yield _fact("after", f"{', '.join(map(str, row.after))}; on a failure: {row.after_failure}")
    if row.correlation_id:
        yield _fact("correlation", row.correlation_id)


def _timeline(row: Row, now: datetime) -> Iterator[str]:
    """Yield the job's times in order."""
    pending = {"running": "lease ends", "offered": "offer ends"}.get(row.state, "visible")
    moments = {
        "enqueued": row.enqueued,
        "run at": row.run_at,
        "offered": row.offered,
        "claimed": row.claimed,
        "finished": row.deleted,
        pending: None if row.deleted or row.waits else row.visible,
    }
    known = [(moment, name) for name, moment in moments.items() if moment is not None]
    for moment, name in sorted(known, key=lambda each: each[0]):
        lapsed = name == "offered" and row.offer_lapsed
        late = f", not claimed within {text.took(row.visible - moment)}" if lapsed else ""
        # A job that was cancelled, and perhaps retried, may have ended before the time at which it was to run.
        overtaken = row.deleted is not None and moment > row.deleted
        distance = "" if overtaken else f" ({text.ago(moment, now)})"
        yield _fact(name, f"{text.local(moment)}{distance}{late}")


def _facts(row: Row, unmasked: bool) -> Iterator[str]:
    yield _fact("attempts", f"{row.attempts} of {row.max_attempts}")
    yield _fact("priority", f"{row.priority}")
    yield _fact("retry", text.retry(Retry.from_json(row.retry)))
    if row.timeout:
        yield _fact("timeout", text.span(row.timeout))
    if row.expires:
        yield _fact("expires", f"{text.span(row.expires)} after run at, unless started")
    for name in MASKED:
        value = getattr(row, name)
        if value is not None or name == "payload":
            shown = dump(value, str, ensure_ascii=False) if unmasked else f"{_mask(value)} (use --payload)"
            yield _fact(name, shown)


def _error(row: Row, unmasked: bool) -> Iterator[str]:
    if not row.error:
        return
    label = "last error" if row.state == "done" and not row.stage else "error"
    yield _fact(label, f"{row.error.get('type', '')}: {row.error.get('message', '')}")
    trace = row.error.get("trace", "")
    if unmasked:
        yield from (f"    {line}" for line in trace.splitlines())
    elif trace:
        yield _fact("trace", f"{_mask(trace)} (use --payload)")


def _mask(value: Any) -> str:
    size = f"{len(dump(value, str, ensure_ascii=False).encode('utf-8', 'replace'))} bytes"
    match value:
        case dict():
            return f"an object with {len(value)} field{'s' * (len(value) != 1)}, {size}"
        case list():
            return f"an array with {len(value)} element{'s' * (len(value) != 1)}, {size}"
        case None:
            return "null"
        case str():
            return f"text, {size}"
        case bool():
            return "a boolean"
    return "a number"


def _fact(name: str, value: str) -> str:
    return f"  {name + ':' if name else '':<{VALUE_PLACE - 2}}{value}"
