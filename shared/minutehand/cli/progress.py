"""A progress bar on stderr, where somebody watches; elsewhere nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Advance]:
    """Show how far something is; yields the function that moves it on. Without a total it only counts."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    last = TimeElapsedColumn() if total is None else TimeRemainingColumn()
    columns = [TextColumn("{task.description} {task.completed:,.0f}"), BarColumn(), last]
    # Stdout is left alone: it may be a pipe, and this would lead it to the terminal.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
