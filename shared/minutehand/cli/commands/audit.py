"""`minutehand audit`: list the audit trail."""

from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.ids import GivenId, full_job_id
from minutehand.cli.once import filter_option
from minutehand.cli.options import (
    connection_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
)
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.values import full_id, job_id
from minutehand.model.stored import dump
from minutehand.operations.audit import Entry, list_audit


@click.command()
@filter_option("--job", type=job_id, help="Only changes to this job.")
@filter_option("--actor", help="Only changes by this actor.")
@filter_option("--verb", help="Only this change: cancel, pause, edit ...")
@limit_option("entries", 50)
@click.option("--before", type=full_id, metavar="ENTRY_ID", help="Continue after the last entry of a page.")
@output_option("table", "json")
@tenant_option
@connection_options
def audit(
    job: GivenId | None, actor: str | None, verb: str | None, limit: int, before: UUID | None, form: str
) -> None:
    """List changes and who made them, latest first. Payloads are never shown.

    \b
    Examples:
      minutehand audit --job 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand audit --verb pause -o json
    """
    with open_database() as database:
        of_job = None if job is None else full_job_id(database, job)
        entries = list_audit(database, job=of_job, actor=actor, verb=verb, before=before, limit=limit)
    if form == "json":
        for entry in entries:
            put_json(entry)
    elif not entries:
        print_message("No audit entry matches.")
    else:
        put_table(["at", "actor", "verb", "job", "facts"], [_row(entry) for entry in entries])
        if len(entries) == limit:
            print_message(f"There may be more; continue with --before {entries[-1].id}.")


def _row(entry: Entry) -> list[str]:
    facts = ", ".join(f"{name} {_value(value)}" for name, value in entry.facts.items())
    return [text.local(entry.at), entry.actor, entry.verb, str(entry.job or ""), facts]


def _value(value: object) -> str:
    return value if isinstance(value, str) else dump(value, str, ensure_ascii=False)
