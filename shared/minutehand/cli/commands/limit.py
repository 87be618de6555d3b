"""`minutehand limit`: limit how many jobs run at once, how many start in a period, and in which order."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.kinds import add_folders
from minutehand.cli.options import open_database
from minutehand.cli.output import print_message, put_json
from minutehand.cli.scope import check_named, per_option, put_control, scope_options
from minutehand.cli.values import duration, read_duration
from minutehand.model.control import MOST_JOBS, MOST_STARTS, ON_DEAD
from minutehand.operations import controls
from minutehand.operations.declared import install as install_limits
from minutehand.operations.declared import load


def _pause(context: click.Context, option: click.Parameter, value: str | None) -> timedelta | None:
    return None if value is None else duration(value)


def _jobs(value: str | int) -> int:
    if (number := _digits(str(value), MOST_JOBS)) is None:
        raise click.BadParameter(
            f"must be an integer from 0 to {MOST_JOBS}, got {value!r}", param_hint="JOBS"
        )
    return number


def _digits(text: str, most: int) -> int | None:
    """Return a number in digits; None if it is larger, or if the text is something else."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if is_number and int(text) <= most else None


@click.command()
@click.argument("jobs", type=_jobs, required=False)
@click.option("--rate", metavar="N/PERIOD", help="Start at most N jobs in each period, as in 100/1m or 5/s.")
@click.option(
    "--burst", type=click.IntRange(1), help="Start at most this many of them at the same time.  [N]"
)
@click.option(
    "--in-order", is_flag=True, default=None, help="Start the jobs of a group in the order of run_at."
)
@click.option(
    "--on-dead",
    type=click.Choice(ON_DEAD),
    help="Whether a dead job blocks its ordered group.  [continue]",
)
@click.option(
    "--break-after", type=click.IntRange(1), help="Pause a group after this many failures in a row."
)
@click.option(
    "--break-for",
    callback=_pause,
    help="How long the group pauses; then one job at a time, until one succeeds.  [1m]",
)
@click.option("--reason", help="Reason, shown in `controls` and the audit trail.")
@click.option(
    "--install",
    metavar="MODULE[:NAME]",
    help="Replace the limits of --source with those in this list.",
)
@click.option("--source", default="code", show_default=True, help="With --install: name of the source.")
@per_option
@scope_options
def limit(
    jobs: int | None, rate: str | None, form: str, install: str | None, source: str, **options: Any
) -> int:
    """Limit a queue, kind, key, group or tenant to this number of JOBS offered or running at once.

    With several of --queue, --kind, --key, --group and --of-tenant, the limit applies to the jobs that match all of
    them. With --per, it applies to each group, key or tenant, except those with a limit of their own. It replaces an
    earlier limit for the same queue, kind, key, group, tenant and --per.

    \b
    Examples:
      minutehand limit 2 --kind report
      minutehand limit 1 --queue mail --key customer/4711
      minutehand limit 3 --per group --queue sync --rate 100/1m --burst 10
      minutehand limit 1 --per group --queue orders --in-order --on-dead block
      minutehand limit --per group --queue sync --break-after 5 --break-for 2m
      minutehand limit 10 --group customer-4711 --queue sync
      minutehand limit --install shop.limits:LIMITS --source shop
    """
    if install is not None:
        return _install(install, source, form, [jobs, rate, *options.values()])
    _check(jobs, rate, options)
    starts, period = (None, None) if rate is None else _rate(rate)
    with open_database() as database:
        control = controls.limit(database, jobs, **options, rate=starts, period=period, actor=actor())
        put_control(control, form)
    return 0


def _install(place: str, source: str, form: str, others: list[Any]) -> int:
    if any(each not in (None, "") for each in others):
        raise click.UsageError("--install must not be combined with JOBS or options other than --source")
    add_folders()
    declared = load(place)
    with open_database() as database:
        installed = install_limits(database, declared, source)
    if form == "json":
        put_json(installed)
    else:
        counts = {outcome: scopes for outcome, scopes in vars(installed).items() if outcome != "refused"}
        print_message(", ".join(f"{len(scopes)} {outcome}" for outcome, scopes in counts.items()))
    for scope in installed.refused:
        print_message(
            f"error: the limit of {scope} exists and was not installed by {source!r}; remove it with minutehand "
            "unlimit, or remove the declaration"
        )
    return 1 if installed.refused else 0


def _check(jobs: int | None, rate: str | None, options: Mapping[str, Any]) -> None:
    """Raise a usage error, in terms of the options, for what the library would refuse in terms of its parameters."""
    check_named(options, last="--per")
    per, ordered, breaks = options["per"], options["in_order"], options["break_after"] is not None
    if per and options[per]:
        raise click.UsageError(
            f"--per {per} must not be combined with {'--of-tenant' if per == 'tenant' else f'--{per}'}"
        )
    if jobs is None and rate is None and not ordered and not breaks:
        raise click.UsageError("expected JOBS, --rate, --in-order or --break-after, got none")
    for name, needed, given in (
        ("burst", "--rate", rate is not None),
        ("on_dead", "--in-order", ordered),
        ("break_for", "--break-after", breaks),
    ):
        if options[name] is not None and not given:
            raise click.UsageError(f"--{name.replace('_', '-')} requires {needed}")
    grouped = (options["group"] or per == "group") and not options["kind"] and not options["key"]
    if (ordered or breaks) and not grouped:
        raise click.UsageError(
            f"{'--in-order' if ordered else '--break-after'} requires --group or --per group, "
            "and must not be combined with --kind or --key"
        )


def _rate(text: str) -> tuple[int, timedelta]:
    """Return the number of starts and the period of `100/1m`; `5/s` is `5/1s`."""
    count, _, period = text.partition("/")
    try:
        if not count.isdigit():
            raise ValueError
        duration = read_duration(period if period[:1].isdigit() else f"1{period}")
        if not (starts := _digits(count, MOST_STARTS)):
            raise click.BadParameter(
                f"N must be an integer from 1 to {MOST_STARTS}, got {count}", param_hint="--rate"
            )
        return starts, duration
    except ValueError:
        raise click.BadParameter(
            f"must be N/PERIOD, such as 100/1m or 5/s, got {text!r}", param_hint="--rate"
        ) from None
