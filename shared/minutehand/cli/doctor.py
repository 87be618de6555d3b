"""`minutehand doctor`: whether an installation is well, and if not, what to do."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing

import click

from minutehand.cli.options import connection_options, output_option, said_url, url_of_local_run
from minutehand.cli.output import put_json, say
from minutehand.cli.text import safe
from minutehand.database import Database
from minutehand.doctor import DATABASE_CHECKS, Finding, Patient, examine_database, examine_stack
from minutehand.doctor.stack import Stack
from minutehand.errors import ConfigurationError
from minutehand.settings import database_url, read_settings
from minutehand.settings.table import DATABASE_URL

COLOURS = {"ok": "green", "warning": "yellow", "problem": "red", "skipped": "bright_black"}
PARTS = ("dispatcher", "worker", "api")


@click.command()
@click.option("--stack", metavar="NAME", help="Examine this stack on AWS, too.")
@click.option(
    "--function", "named", metavar="PART=NAME", multiple=True,
    help="A function with another name than the template's; PART is dispatcher, worker or api.",
)  # fmt: skip
@output_option("text", "json")
@connection_options
def doctor(stack: str | None, named: Sequence[str], form: str) -> int:
    """Examine an installation, and say of each check what was found and what to do.

    Looks at the database, and with --stack at what stands on AWS, where it invokes the dispatcher once,
    which makes no tick. Changes nothing. Exits with 1 when there is a problem.

    \b
    Examples:
      minutehand doctor
      minutehand doctor --stack minutehand
      minutehand doctor -o json | jq 'select(.verdict == "problem")'
    """
    names = _names(named)
    seen = _inspect(stack or "minutehand", names) if stack or names else None
    findings = _database(seen) + (examine_stack(seen) if seen else [])
    for finding in findings:
        put_json(finding) if form == "json" else _put(finding)
    _conclude(findings)
    return 1 if any(finding.verdict == "problem" for finding in findings) else 0


def _names(named: Sequence[str]) -> dict[str, str]:
    pairs = [part.partition("=")[::2] for part in named]
    if any(part not in PARTS or not name for part, name in pairs):
        raise click.UsageError(f"--function is PART=NAME, and PART is one of {', '.join(PARTS)}")
    return dict(pairs)


def _inspect(stack: str, names: dict[str, str]) -> Stack:
    try:
        from minutehand.aws.inspect import inspect_stack
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"looking at AWS is an extra ({error.name} is missing); run: pip install 'minutehand[aws]'"
        ) from None
    return inspect_stack(stack, names)


def _database(stack: Stack | None) -> list[Finding]:
    """Examine the database that is named here; with a stack, it may be one that only the functions reach."""
    url = said_url() or url_of_local_run()
    if stack and not url and not DATABASE_URL.read():
        return [
            Finding(name, "skipped", "DATABASE_URL is not set here; see reach-database")
            for name in DATABASE_CHECKS
        ]
    told = stack.dispatcher_function.variables if stack and stack.dispatcher_function else os.environ
    with (
        closing(Database(url or database_url)) as database,
        closing(Database(url or database_url)) as another,
    ):
        return examine_database(Patient(database, another, _capacity(told), stacked=stack is not None))


def _capacity(told: Mapping[str, str]) -> int:
    """How many workers may run at once; what makes no sense on AWS is said by a check of its own."""
    try:
        return read_settings(told).capacity
    except ConfigurationError:
        if told is os.environ:
            raise
        return read_settings({}).capacity


def _put(finding: Finding) -> None:
    verdict = click.style(
        finding.verdict.ljust(8), fg=COLOURS[finding.verdict], bold=finding.verdict == "problem"
    )
    click.echo(f"{verdict} {finding.check.ljust(14)} {safe(finding.found)}")
    if finding.advice:
        click.echo(f"{' ' * 24}do: {safe(finding.advice)}")


def _conclude(findings: Sequence[Finding]) -> None:
    counts = Counter(finding.verdict for finding in findings)
    told = [f"{counts['ok']} ok"]
    told += [
        f"{count} {verdict}{'s' * (count > 1)}"
        for verdict in ("problem", "warning")
        if (count := counts[verdict])
    ]
    told += [f"{counts['skipped']} skipped"] if counts["skipped"] else []
    say(f"{len(findings)} checks: {', '.join(told)}.")
