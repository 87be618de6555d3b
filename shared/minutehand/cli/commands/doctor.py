"""`minutehand doctor`: check an installation."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import click

from minutehand.cli.options import connection_options, given_url, local_run_url, output_option
from minutehand.cli.output import print_message, put_json, wrapped_instructions
from minutehand.cli.text import safe
from minutehand.database import Database
from minutehand.doctor import DATABASE_CHECKS, ExaminedDatabase, Finding, examine_database, examine_stack
from minutehand.doctor.project import Project, examine_project, find_project
from minutehand.doctor.stack import PARTS, Stack
from minutehand.errors import ConfigurationError
from minutehand.settings import database_url, names_database, read_settings
from minutehand.settings.report import misspelled
from minutehand.settings.table import DATABASE_URL

COLORS = {"ok": "green", "warning": "yellow", "problem": "red", "skipped": "bright_black"}
# The width of the verdict and the check.
INDENT = " " * 24


@click.command()
@click.option("--stack", metavar="NAME", help="Also check this stack on AWS, or the one in it.")
@click.option(
    "--function",
    "named",
    metavar="PART=NAME",
    multiple=True,
    help="Name of a function, if not the template's; PART is dispatcher, worker or api.",
)
@output_option("text", "json")
@connection_options
def doctor(stack: str | None, named: Sequence[str], form: str) -> int:
    """Check an installation, and print the result of each check and how to fix problems.

    Checks the project in this folder if there is one, the database, and with --stack also the stack on AWS. It
    then invokes the dispatcher once, without a tick.
    Changes nothing. The exit code is 1 if there is a problem.

    \b
    Examples:
      minutehand doctor
      minutehand doctor --stack shop
      minutehand doctor -o json | jq 'select(.verdict == "problem")'
    """
    names = _names(named)
    found = _inspect(stack or "minutehand", names) if stack or names else None
    project = find_project(Path())
    findings = [Finding("variable", "warning", fault, "correct its name") for fault in misspelled()]
    findings += examine_project(project) if project else []
    findings += _database(found, project) + (examine_stack(found) if found else [])
    for finding in findings:
        put_json(finding) if form == "json" else _put(finding)
    _conclude(findings)
    return 1 if any(finding.verdict == "problem" for finding in findings) else 0


def _names(named: Sequence[str]) -> dict[str, str]:
    pairs = [part.partition("=")[::2] for part in named]
    if faults := [
        text for text, (part, name) in zip(named, pairs, strict=True) if part not in PARTS or not name
    ]:
        raise click.UsageError(
            f"--function must be PART=NAME, where PART is one of {', '.join(PARTS)}, got {faults[0]!r}"
        )
    return dict(pairs)


def _inspect(stack: str, names: dict[str, str]) -> Stack:
    try:
        from minutehand.aws.inspect import inspect_stack
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"--stack requires an extra ({error.name} is missing); run: pip install 'minutehand[aws]'"
        ) from None
    return inspect_stack(stack, names)


def _database(stack: Stack | None, project: Project | None) -> list[Finding]:
    """Check the database that is set here. With a stack or in a project, none may be.

    With a stack, it may be reachable only for its functions.
    """
    url = given_url() or local_run_url()
    if stack and not url and not DATABASE_URL.read():
        return _skipped("DATABASE_URL is not set here; see reach-database")
    if project and not url and not names_database():
        return _skipped("DATABASE_URL is not set here, and no local run is running")
    dispatcher = stack.dispatcher_function if stack else None
    environment = dispatcher.variables if dispatcher else os.environ
    with (
        closing(Database(url or database_url)) as database,
        closing(Database(url or database_url)) as another,
    ):
        return examine_database(
            ExaminedDatabase(database, another, _capacity(environment), stacked=stack is not None)
        )


def _skipped(reason: str) -> list[Finding]:
    return [Finding(name, "skipped", reason) for name in DATABASE_CHECKS]


def _capacity(environment: Mapping[str, str]) -> int:
    """Return the capacity. An invalid setting on AWS has a check of its own."""
    try:
        return read_settings(environment).capacity
    except ConfigurationError:
        if environment is os.environ:
            raise
        return read_settings({}).capacity


def _put(finding: Finding) -> None:
    head = f"{finding.verdict:8} {finding.check:14} "
    first, *others = wrapped_instructions(safe(finding.found), head, INDENT)
    verdict = click.style(first[:8], fg=COLORS[finding.verdict], bold=finding.verdict == "problem")
    advice = wrapped_instructions(f"do: {safe(finding.advice)}", INDENT) if finding.advice else []
    for line in (verdict + first[8:], *others, *advice):
        click.echo(line)


def _conclude(findings: Sequence[Finding]) -> None:
    counts = Counter(finding.verdict for finding in findings)
    parts = [f"{counts['ok']} ok"]
    parts += [
        f"{count} {verdict}{'s' * (count > 1)}"
        for verdict in ("problem", "warning")
        if (count := counts[verdict])
    ]
    parts += [f"{counts['skipped']} skipped"] if counts["skipped"] else []
    print_message(f"{len(findings)} checks: {', '.join(parts)}.")
