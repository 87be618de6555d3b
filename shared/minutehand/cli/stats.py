"""`minutehand stats`: every queue in a line."""

from datetime import timedelta

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.read import STATES, Depth, clock
from minutehand.read import stats as read_stats


@click.command()
@output_option("table", "json")
@connection_options
def stats(form: str) -> None:
    """Count the jobs of each queue by state.

    "late" is for how long the longest due job has been waiting. It counts every job, finished ones
    too, so it takes its time on a large table.

    \b
    Examples:
      minutehand stats
      minutehand stats -o json
    """
    with open_database() as database:
        depths, now = read_stats(database), clock(database)
    if form == "json":
        for depth in depths:
            put_json(depth)
    elif not depths:
        say("There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'")
    else:
        queues = sorted({depth.queue for depth in depths})
        lates = {depth.queue: now - depth.since for depth in depths if depth.state == "due"}
        put_table(
            ["queue", *STATES, "late"],
            [[queue, *_counts(queue, depths), _late(lates.get(queue))] for queue in queues],
        )


def _counts(queue: str, depths: list[Depth]) -> list[str]:
    counts = {depth.state: str(depth.jobs) for depth in depths if depth.queue == queue}
    return [counts.get(state, "") for state in STATES]


def _late(late: timedelta | None) -> str:
    return "" if late is None else text.span(late)
