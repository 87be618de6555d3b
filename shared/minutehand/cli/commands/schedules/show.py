"""`minutehand schedules show`: show a schedule."""

from datetime import datetime, timedelta
from typing import Any

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.facts import schedule_facts
from minutehand.cli.options import (
    connection_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
)
from minutehand.cli.output import put_json, put_table
from minutehand.model.retry import Retry


@click.command()
@click.argument("name")
@limit_option("past occurrences", 10)
@output_option("table", "json")
@tenant_option
@connection_options
def show(name: str, limit: int, form: str) -> None:
    """Show a schedule and the outcomes of its last occurrences."""
    with open_database() as database:
        stored, firings = library.get(database, name), library.list_firings(database, name, limit=limit)
    facts = schedule_facts(stored)
    if form == "json":
        put_json(facts | {"firings": firings})
        return
    rows = [[name.replace("_", " "), _value(value)] for name, value in facts.items() if value]
    put_table(["option", "value"], rows, headed=False)
    put_table(["occurrence", "outcome", "count", "job"], [_firing(each) for each in firings])


def _firing(each: Any) -> list[str]:
    count = str(each.count) if each.count > 1 else ""
    return [text.local(each.nominal), each.outcome, count, str(each.job or "")]


def _value(value: Any) -> str:
    match value:
        case datetime():
            return text.local(value)
        case timedelta():
            return text.span(value)
        case Retry():
            return text.retry(value)
        case dict():
            return ", ".join(f"{name} {_value(inner)}" for name, inner in value.items())
    return str(value)
