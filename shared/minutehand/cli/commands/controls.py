"""`minutehand controls`: list pauses and limits."""

from functools import partial

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.model.control import Control, Hold
from minutehand.operations.controls import list_controls, list_holds

HEADERS = ["queue", "kind", "key", "group", "tenant", "per", "paused", "limit", "busy", "reason", "since"]
HOLD_HEADERS = ["queue", "group", "tenant", "until"]


@click.command()
@output_option("table", "json")
@connection_options
def controls(form: str) -> None:
    """List pauses and limits, with the number of jobs offered or running under each, and groups that wait.

    \b
    Examples:
      minutehand controls
    """
    with open_database() as database:
        found = all_pages(partial(list_controls, database), lambda control: control.place)
        if form == "json":
            for each in [*found, *list_holds(database)]:
                put_json(each)
            return
        rows = [_row(control) for control in found]
        holds = [[*_group(hold), text.local(hold.held_until)] for hold in list_holds(database)]
    if rows:
        put_table(HEADERS, rows)
    if holds:
        print_message("These groups wait because of RetryAfter; to end that: minutehand unblock")
        put_table(HOLD_HEADERS, holds)
    if not rows and not holds:
        print_message("Nothing is paused or limited.")


def _group(hold: Hold) -> tuple[str, ...]:
    return hold.queue, hold.group, hold.tenant


def _row(control: Control) -> list[str]:
    until = f"until {text.local(control.until)}" if control.until else "yes"
    return [
        *_names(control),
        until if control.paused else "",
        control.limits,
        _use(control),
        control.reason or "",
        text.local(control.changed) if control.changed else "",
    ]


def _use(control: Control) -> str:
    """Return what it counts: `3`, or of each group, key or tenant `up to 3, 2 full`, and when a rate is free again."""
    busy = str(control.busy) if not control.per else f"up to {control.busy}, {control.full} full"
    if control.open:
        busy += f", {control.open} paused by failures"
    return f"{busy}, next start {text.local(control.free_at)}" if control.free_at else busy


def _names(control: Control) -> tuple[str, ...]:
    names = control.queue, control.kind, control.key, control.group, control.tenant, control.per
    return names if any(names) else ("(all)", *names[1:])
