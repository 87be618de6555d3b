"""`minutehand audit`: who changed what by hand, and when."""

import json
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.values import job_id
from minutehand.operations.audit import Entry, list_audit


@click.command()
@click.option("--job", type=job_id, help="What was done to this job.")
@click.option("--who", help="What this one did.")
@click.option("--verb", help="What was done: cancel, pause, edit ...")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="At most so many lines."
)
@click.option(
    "--before", type=job_id, metavar="LINE_ID", help="Go on after this line, the last of the page before."
)
@output_option("table", "json")
@tenant_option
@connection_options
def audit(
    job: UUID | None, who: str | None, verb: str | None, limit: int, before: UUID | None, form: str
) -> None:
    """Show who changed what by hand, and when, the latest first; never a payload.

    \b
    Examples:
      minutehand audit --job 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand audit --verb pause -o json
    """
    with open_database() as database:
        entries = list_audit(database, job=job, who=who, verb=verb, before=before, most=limit)
    if form == "json":
        for entry in entries:
            put_json(entry)
    elif not entries:
        say("Nothing was done by hand that matches.")
    else:
        put_table(["at", "who", "verb", "job", "with"], [_row(entry) for entry in entries])
        if len(entries) == limit:
            say(f"There may be more; go on with --before {entries[-1].id}.")


def _row(entry: Entry) -> list[str]:
    facts = ", ".join(f"{name} {_value(value)}" for name, value in entry.facts.items())
    return [text.local(entry.at), entry.who, entry.verb, str(entry.job or ""), facts]


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
