"""`minutehand drop`: all jobs of a queue that have not begun are deleted, for whoever types its name twice."""

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, say
from minutehand.cli.progress import progress
from minutehand.cli.who import who
from minutehand.operations import drop as dropping


@click.command()
@click.argument("queue")
@click.option("--yes-drop", metavar="QUEUE", help="The queue's name once more: they are deleted for good.")
@output_option("table", "json")
@connection_options
def drop(queue: str, yes_drop: str | None, form: str) -> int:
    """Delete all jobs of QUEUE that neither run nor are finished; nothing brings them back.

    Without --yes-drop it counts them. To stop a queue only, pause it; to keep its jobs in the history, cancel them.

    \b
    Examples:
      minutehand drop mail
      minutehand drop mail --yes-drop mail
    """
    if yes_drop not in (None, queue):
        raise click.UsageError(
            f"--yes-drop says {yes_drop!r}, and the queue is {queue!r}; nothing was deleted"
        )
    with open_database() as database:
        count = dropping.droppable(database, queue)
        if yes_drop is None:
            return _conclude(count, form, "would be deleted")
        dropped = 0
        with progress("deleting", count) as advance:
            for some in dropping.drop_all(database, queue, dropping.words(queue), who=who()):
                dropped += some
                advance(some)
        return _conclude(dropped, form, "deleted")


def _conclude(count: int, form: str, what: str) -> int:
    if form == "json":
        put_json({"outcome": what, "jobs": count})
    else:
        say(f"{text.jobs(count)} {what}")
    return 0
