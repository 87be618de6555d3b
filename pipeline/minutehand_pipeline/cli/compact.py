"""`minutehand pipeline compact`: merge small files of the lake."""

import click

from minutehand.cli.options import connection_options, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand_pipeline.cli.database import export_database_url


@click.command()
@click.argument("lake")
@click.option(
    "--files",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    metavar="N",
    help="Compact the days on which a table has at least N small files.",
)
@click.option("--dry-run", is_flag=True, help="Count files; change nothing.")
@output_option("table", "json")
@connection_options
def compact(lake: str, files: int, dry_run: bool, form: str) -> None:
    """Merge the small files of each day in LAKE, left by late rows and parallel tasks.

    The rows do not change. The next report reads the compacted days again. The old files remain for readers that opened
    the lake before; `minutehand pipeline archive --vacuum` deletes them after a week. Spark is not needed.

    \b
    Examples:
      minutehand pipeline compact lake --dry-run
      minutehand pipeline compact s3://bucket/lake --files 4
    """
    from minutehand_pipeline.archive.compact import CompactConfig
    from minutehand_pipeline.archive.compact import compact as compact_files
    from minutehand_pipeline.lake import Lake

    export_database_url()
    found = compact_files(CompactConfig(lake=Lake(lake), files=files, dry_run=dry_run))
    if form == "json":
        for each in found:
            put_json({**vars(each), "dry_run": dry_run})
        return
    rows = [[each.home, f"{each.days:,}", f"{each.before:,}", f"{each.after:,}"] for each in found]
    put_table(["table", "days", "small files", "afterwards"], rows)
    if dry_run:
        print_message("This was a dry run: nothing was changed.")
