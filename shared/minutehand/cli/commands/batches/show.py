"""`minutehand batches show`: show a batch."""

from datetime import datetime
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.facts import batch_facts
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_table
from minutehand.cli.values import batch_id
from minutehand.queries.batches import get_batch


@click.command()
@click.argument("batch", type=batch_id)
@output_option("table", "json")
@tenant_option
@connection_options
def show(batch: GivenId, form: str) -> None:
    """Show a batch, its callbacks and the counts of its jobs."""
    with open_database() as database:
        facts = batch_facts(get_batch(database, full_batch_id(database, batch)))
    if form == "json":
        put_json(facts)
        return
    rows = [
        [name.replace("_", " "), _value(value)] for name, value in facts.items() if value not in (None, "")
    ]
    put_table(["field", "value"], rows, headed=False)


def _value(value: Any) -> str:
    return text.local(value) if isinstance(value, datetime) else str(value)
