"""`minutehand tick`: run one dispatcher tick."""

import click

import minutehand
from minutehand.cli import text
from minutehand.cli.logged import logged
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.database import Database
from minutehand.errors import ConfigurationError
from minutehand.fan_out import Invoker
from minutehand.settings import Settings, read_settings, read_worker_routes
from minutehand.settings.table import DISPATCHER_NAME, MODE
from minutehand.tick import LOWEST_COUNT_LIMIT, Tick
from minutehand.tick import tick as run_tick

NO_WORKER = (
    "MINUTEHAND_WORKER is not set: set it to the name of the worker function, "
    "use --dry-run to count due jobs, or run them on this machine: minutehand work --drain"
)

NO_MODE = (
    "--wake requires MINUTEHAND_MODE=prompt or sleep; in the mode minute, the dispatcher ticks every minute"
)
NO_NAMES = (
    "in the mode prompt, --wake requires MINUTEHAND_WORKER and MINUTEHAND_DISPATCHER; "
    "copy them from the outputs of the stack"
)
WOKEN = {
    "prompt": "The dispatcher is invoked, unless it waits already.",
    "sleep": "The dispatcher ticks at the next minute.",
}


@click.command()
@click.option("--dry-run", is_flag=True, help="Count due jobs; make no offers and invoke nothing.")
@click.option("--wake", is_flag=True, help="Let the stack's dispatcher tick, in the modes prompt and sleep.")
@output_option("table", "json")
@connection_options
def tick(dry_run: bool, wake: bool, form: str) -> int:
    """Run one dispatcher tick.

    Counts due jobs, makes offers up to the capacity, and invokes the Lambda function in MINUTEHAND_WORKER with them.
    Concurrent ticks are safe. --wake asks the stack's dispatcher to tick instead: immediately in the mode prompt, at
    the next minute in the mode sleep. Use it after enqueuing in SQL.

    \b
    Examples:
      minutehand tick --dry-run
      MINUTEHAND_WORKER=minutehand-worker minutehand tick
      MINUTEHAND_MODE=sleep minutehand tick --wake
    """
    if wake and dry_run:
        raise click.UsageError("expected --wake or --dry-run, got both")
    if wake:
        return _wake()
    settings = read_settings()
    if not dry_run and not settings.workers.default:
        raise ConfigurationError(NO_WORKER)
    with open_database() as database:
        return _count(database, settings, form) if dry_run else _tick(database, settings, form)


def _wake() -> int:
    mode = MODE.read()
    if mode == "minute":
        raise ConfigurationError(NO_MODE)
    if mode == "prompt" and not (read_worker_routes().default and DISPATCHER_NAME.read()):
        raise ConfigurationError(NO_NAMES)
    with open_database() as database, logged("minutehand.waking") as problems:
        minutehand.wake(connection=database)
    if problems:
        print_message(f"The dispatcher was not woken: {problems[-1]}")
        return 1
    print_message(WOKEN[mode])
    return 0


def _count(database: Database, settings: Settings, form: str) -> int:
    limit = max(settings.capacity, LOWEST_COUNT_LIMIT)
    due = database.run("count_due", limit=limit, now=None)
    if form == "json":
        put_json({"due": {record["queue"]: record["due"] for record in due}})
    elif not due:
        print_message("No job is due.")
    else:
        rows = [
            [r["queue"], f"{r['due']}{' or more' if r['due'] >= limit else ''}", text.span(r["late"])]
            for r in due
        ]
        put_table(["queue", "due", "late"], rows)
    return 0


def _tick(database: Database, settings: Settings, form: str) -> int:
    ticked = run_tick(database, _invoker(), settings)
    if form == "json":
        put_json(
            {
                "due": dict(ticked.due),
                "offered": len(ticked.offered.offers),
                "invoked": ticked.fan_out.invoked,
                "refused": len(ticked.fan_out.refused),
                "dead": len(ticked.maintenance.reaped),
                "expired": ticked.maintenance.expired,
                "late": ticked.late,
                "took": ticked.took,
            }
        )
    else:
        click.echo(_summary(ticked))
    for reason in sorted({refusal.reason for refusal in ticked.fan_out.refused}):
        print_message(f"an invocation was refused, and its jobs are due again: {reason}")
    return 1 if ticked.fan_out.refused else 0


def _summary(ticked: Tick) -> str:
    due, offered, sent = sum(ticked.due.values()), len(ticked.offered.offers), ticked.fan_out
    return f"{text.jobs(due)} due, {offered} offered, {sent.invoked} invoked, {len(sent.refused)} refused"


def _invoker() -> Invoker:
    try:
        # LambdaInvoker itself imports it with the first invocation, when jobs are already offered.
        import minutehand.aws.service  # noqa: F401
        from minutehand.aws import LambdaInvoker
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"invoking Lambda requires an extra ({error.name} is missing); run: pip install 'minutehand[aws]'"
        ) from None
    return LambdaInvoker()
