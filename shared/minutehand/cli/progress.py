"""A progress bar on stderr, if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Advance]:
    """Show a progress bar and yield the function that advances it. Without a total it shows a count."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    last = TimeElapsedColumn() if total is None else TimeRemainingColumn()
    columns = [TextColumn("{task.description} {task.completed:,.0f}"), BarColumn(), last]
    # rich would redirect stdout to the terminal, even if it is a pipe.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
