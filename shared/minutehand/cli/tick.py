"""`minutehand tick`: what the schedule does every minute, once and by hand."""

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.database import Database
from minutehand.errors import ConfigurationError
from minutehand.fan_out import Invoker
from minutehand.settings import Settings, read_settings
from minutehand.tick import LOWEST_COUNT_LIMIT, Tick
from minutehand.tick import tick as make_tick

NO_WORKER = (
    "MINUTEHAND_WORKER is not set: name the worker function for this to invoke; "
    "or only count with --dry-run, or work the jobs off here: minutehand work --drain"
)


@click.command()
@click.option("--dry-run", is_flag=True, help="Only count what is due; offer nothing and invoke nobody.")
@output_option("table", "json")
@connection_options
def tick(dry_run: bool, form: str) -> int:
    """Make one pass of the dispatcher by hand.

    Counts what is due, offers what there is room for, and invokes the Lambda function that
    MINUTEHAND_WORKER names for each offer. Any number of ticks at once do no harm.

    \b
    Examples:
      minutehand tick --dry-run
      MINUTEHAND_WORKER=minutehand-worker minutehand tick
    """
    settings = read_settings()
    if not dry_run and not settings.workers.default:
        raise ConfigurationError(NO_WORKER)
    with open_database() as database:
        return _count(database, settings, form) if dry_run else _tick(database, settings, form)


def _count(database: Database, settings: Settings, form: str) -> int:
    most = max(settings.capacity, LOWEST_COUNT_LIMIT)
    due = database.run("count_due", limit=most, now=None)
    if form == "json":
        put_json({"due": {record["queue"]: record["due"] for record in due}})
    elif not due:
        say("Nothing is due.")
    else:
        rows = [
            [r["queue"], f"{r['due']}{' or more' if r['due'] >= most else ''}", text.span(r["late"])]
            for r in due
        ]
        put_table(["queue", "due", "late"], rows)
    return 0


def _tick(database: Database, settings: Settings, form: str) -> int:
    made = make_tick(database, _invoker(), settings)
    facts = {
        "due": dict(made.due), "offered": len(made.offered.offers), "invoked": made.fan_out.invoked,
        "refused": len(made.fan_out.refused), "dead": len(made.maintenance.reaped), "late": made.late,
        "took": made.took,
    }  # fmt: skip
    if form == "json":
        put_json(facts)
    else:
        click.echo(_told(made))
    for reason in sorted({refusal.reason for refusal in made.fan_out.refused}):
        say(f"an invocation was refused, and its jobs are due again: {reason}")
    return 1 if made.fan_out.refused else 0


def _told(made: Tick) -> str:
    due, offered, sent = sum(made.due.values()), len(made.offered.offers), made.fan_out
    return f"{text.jobs(due)} due, {offered} offered, {sent.invoked} invoked, {len(sent.refused)} refused"


def _invoker() -> Invoker:
    try:
        from minutehand.aws import LambdaInvoker
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"invoking Lambda is an extra ({error.name} is missing); run: pip install 'minutehand[aws]'"
        ) from None
    return LambdaInvoker()
