"""`minutehand controls`: list pauses and limits."""

from functools import partial

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.model.control import Control
from minutehand.operations.controls import list_controls

HEADERS = ["queue", "kind", "key", "group", "tenant", "per", "paused", "limit", "busy", "reason", "since"]


@click.command()
@output_option("table", "json")
@connection_options
def controls(form: str) -> None:
    """List pauses and limits, with the number of jobs offered or running under each.

    \b
    Examples:
      minutehand controls
    """
    with open_database() as database:
        found = all_pages(partial(list_controls, database), lambda control: control.place)
        if form == "json":
            for control in found:
                put_json(control)
        elif rows := [_row(control) for control in found]:
            put_table(HEADERS, rows)
        else:
            print_message("Nothing is paused or limited.")


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
