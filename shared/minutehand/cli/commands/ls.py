"""`minutehand ls`: list jobs."""

from collections.abc import Iterator
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.ids import GivenId, full_job_id
from minutehand.cli.listing import lines_of, pages
from minutehand.cli.once import filter_option
from minutehand.cli.options import (
    connection_options,
    filter_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
    tz_option,
)
from minutehand.cli.output import print_message, put_lines
from minutehand.cli.scope import print_if_paused
from minutehand.cli.times import optional_time
from minutehand.cli.values import job_id, named_headers
from minutehand.database import Database
from minutehand.model.row import STATES, Page
from minutehand.queries.jobs import MAX_PAGE, list_jobs

WINDOW = ("since", "until", "finished_since", "finished_until")


@click.command()
@filter_options(STATES)
@filter_option("--priority", type=click.IntRange(0, 9), help="Only jobs of this priority.")
@click.option(
    "--header",
    "headers",
    metavar="NAME=VALUE",
    multiple=True,
    callback=lambda _ctx, _option, arguments: named_headers(arguments),
    help="Only jobs with this header; repeatable.",
)
@filter_option("--version", help="Only jobs finished by this version of the code.")
@filter_option(
    "--since", metavar="WHEN", help="Only jobs enqueued since then: how long ago, such as 7d, or a time."
)
@filter_option("--until", metavar="WHEN", help="Only jobs enqueued before then.")
@filter_option("--finished-since", metavar="WHEN", help="Only jobs that finished since then.")
@filter_option("--finished-until", metavar="WHEN", help="Only jobs that finished before then.")
@click.option("--result-dropped", is_flag=True, help="Only done jobs whose result could not be stored.")
@tz_option
@limit_option("jobs", 50, None)
@click.option("--before", type=job_id, help="Continue after this job, the last of a page.")
@click.option("--after", type=job_id, help="Show the page before this job, the first of a page.")
@click.option("--last", is_flag=True, help="Show the last page: the oldest jobs.")
@click.option("--all", "everything", is_flag=True, help="Show all jobs, without a limit.")
@click.option("--total", is_flag=True, help="Also count all matching jobs.")
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def ls(
    tz: str | None,
    limit: int,
    before: GivenId | None,
    after: GivenId | None,
    last: bool,
    everything: bool,
    total: bool,
    form: str,
    **options: Any,
) -> None:
    """List jobs, newest first.

    Payloads are not shown. The last column is the time of the state: when the job may run, was offered, started or
    finished.

    \b
    Examples:
      minutehand ls --state dead --kind welcome
      minutehand ls --queue mail --all -o json
      minutehand ls --header request=b7e1 --priority 9
      minutehand ls --state done --finished-since 2h --total
      minutehand ls --result-dropped --finished-since 7d
      minutehand ls --state dead -o ids | minutehand retry -
    """
    if sum((before is not None, after is not None, last)) > 1:
        raise click.UsageError("expected at most one of --before, --after and --last")
    if (last or after is not None) and (everything or limit > MAX_PAGE):
        raise click.UsageError(
            f"--after and --last must not be combined with --all or with -n above {MAX_PAGE}: they show one page"
        )
    with open_database() as database:
        filters = _filters(database, tz, **options)
        first, place = (full_job_id(database, each) if each else None for each in (after, before))
        if last or first:
            page = list_jobs(database, after=first, last=last, limit=min(limit, MAX_PAGE), **filters)
            found = iter([page] if page.rows else [])
        else:
            found = pages(database, before=place, limit=None if everything else limit, **filters)
        shown = _put(database, found, form)
        if form == "table":
            print_if_paused(database)
        if total:
            print_message(
                f"{text.jobs(list_jobs(database, limit=1, total=True, **filters).total or 0)} in total."
            )
    if shown is None:
        _print_none(filtered=options["priority"] is not None or any(options.values()))
    elif form == "table":
        _print_more(shown)


def _filters(database: Database, tz: str | None, **options: Any) -> dict[str, Any]:
    return options | {
        name: optional_time(database, options[name], tz, f"--{name.replace('_', '-')}") for name in WINDOW
    }


def _put(database: Database, found: Iterator[Page], form: str) -> Page | None:
    """Print the pages; return the last one that was printed, or None if there was none."""
    page = None

    def lines() -> Iterator[str]:
        nonlocal page
        for following in found:
            first, page = page is None, following
            yield from lines_of(database, following.rows, form, headed=first)

    put_lines(lines())
    return page


def _print_none(*, filtered: bool) -> None:
    if filtered:
        print_message("No job matches.")
    else:
        print_message("There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'")


def _print_more(page: Page) -> None:
    if page.before:
        print_message(f"There are more; continue with --before {page.before}, or use --all.")
    elif page.after:
        print_message(f"There are newer ones; go back with --after {page.after}.")
