"""`minutehand upgrade`: report and accept what a new version changes in a project."""

from collections.abc import Sequence
from pathlib import Path

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.project.changes import Change, changes
from minutehand.project.link import link_stack
from minutehand.project.lock import NAME, Lock, check_is_project, installed, read_lock, write_lock


@click.command()
@click.option("--check", is_flag=True, help="Change nothing but the link; exit with 1 if anything differs.")
@output_option("table", "json")
def upgrade(check: bool, form: str) -> int:
    """Report what the installed version changes in the stack, the schema and the settings, and accept it.

    Compares with minutehand.lock, which the last upgrade wrote: parameters of the stack, migrations and
    functions of the schema, and settings. Without --check, minutehand.lock is written again; commit it.

    \b
    Examples:
      pip install -U minutehand && minutehand upgrade --check
      minutehand upgrade && sam build && sam deploy
    """
    root = Path()
    check_is_project(root)
    now = installed()
    is_new = not (root / NAME).exists()
    found = _compare(root, now, check)
    link_stack(root)
    if not check:
        write_lock(root, now)
    _put(found, form)
    if is_new and not check:
        print_message(f"{NAME} was created for minutehand {now.version}.")
    else:
        _conclude(found, now, check)
    return 1 if check and found else 0


def _compare(root: Path, now: Lock, check: bool) -> list[Change]:
    """Return what differs from the lock; nothing if there is none yet and this run creates it."""
    if not check and not (root / NAME).exists():
        return []
    return changes(read_lock(root), now)


def _put(found: Sequence[Change], form: str) -> None:
    if form == "json":
        for change in found:
            put_json(change)
    elif found:
        put_table(["change", "part", "name", "before", "after"], [_row(change) for change in found])


def _row(change: Change) -> list[str]:
    """Return a line for people, without the checksums of the schema."""
    before, after = ("", "") if change.part == "schema" else (change.before or "", change.after or "")
    return [change.verb, change.part, change.name, before, after]


def _conclude(found: Sequence[Change], now: Lock, check: bool) -> None:
    if not found:
        print_message(f"{NAME} agrees with minutehand {now.version}.")
        return
    if any(change.part == "schema" for change in found):
        print_message("The next deploy migrates the schema; elsewhere, run: minutehand migrate --plan")
    print_message(f"{_count(found)}; to accept, run: minutehand upgrade" if check else f"{NAME} was written.")


def _count(found: Sequence[Change]) -> str:
    return "1 change" if len(found) == 1 else f"{len(found)} changes"
