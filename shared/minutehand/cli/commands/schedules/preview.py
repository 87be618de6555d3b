"""`minutehand schedules preview`: show the next occurrences of a recurrence."""

import click

from minutehand import schedules as library
from minutehand.cli.options import limit_option, output_option
from minutehand.cli.output import put_json, put_table


@click.command()
@click.argument("every")
@click.option("--zone", help="Time zone of the schedule.  [UTC]")
@limit_option("occurrences", 10)
@output_option("table", "json")
def preview(every: str, zone: str | None, limit: int, form: str) -> None:
    """Show the next occurrences of EVERY in local time and UTC, without a database."""
    occurrences = library.preview(every, zone, limit)
    if form == "json":
        for each in occurrences:
            put_json({"utc": each.utc, "local": each.local.isoformat()})
        return
    rows = [
        [f"{each.local:%a %Y-%m-%d %H:%M:%S %Z}", f"{each.utc:%Y-%m-%d %H:%M:%S}"] for each in occurrences
    ]
    put_table(["local", "utc"], rows)
