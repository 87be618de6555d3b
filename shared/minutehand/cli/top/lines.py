"""The lines of `minutehand top`, cut to the width of a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from minutehand.cli import text
from minutehand.cli.tables import GAP, Column, cut, fit
from minutehand.cli.wrapping import wrap, wrap_instructions
from minutehand.queries.top import COUNTED, Detail, Failing, Job, Overview, QueueFigures

QUEUES = (
    Column(name="queue", least=8),
    Column(name="due", number=True),
    Column(name="late", number=True),
    Column(name="offered", short="offer", rank=1, number=True),
    Column(name="running", short="run", number=True),
    Column(name="in/min", rank=2, number=True),
    Column(name="out/min", rank=2, number=True),
    Column(name="budget", rank=3, number=True),
    Column(name="", least=6),
)
FAILING = (
    Column(name="failing", least=8),
    Column(name="queue", least=6, rank=1),
    Column(name="dead 1 h", number=True),
    Column(name="retrying", number=True),
    Column(name="error", least=8),
)
JOBS = (
    Column(name="id"),
    Column(name="kind", least=8),
    Column(name="key", least=6, rank=1),
    Column(name="state"),
    Column(name="for", number=True),
    Column(name="attempt", number=True),
    Column(name="error", least=6, rank=2),
)


@dataclass(frozen=True)
class Line:
    """A line and its style; `queue` is the queue that it shows."""

    text: str
    style: str = ""
    queue: str | None = None


def overview_lines(overview: Overview, width: int) -> Iterator[Line]:
    """Yield the lines of all queues."""
    yield from head_lines(overview, width)
    yield Line("")
    if not overview.queues:
        yield Line("No queue has due, offered or running jobs.")
    names = [each.queue for each in overview.queues]
    rows = [_queue(each) for each in overview.queues]
    for queue, line in zip([None, *names], _table(QUEUES, rows, width), strict=False):
        yield Line(line.text, line.style, queue)
    yield from failing_lines(overview.failing, width)


def head_lines(overview: Overview, width: int) -> Iterator[Line]:
    """Yield the time, and what concerns all queues."""
    ticked = text.ago(overview.ticked, overview.now) if overview.ticked else "never"
    yield Line(cut(f"minutehand  {text.local(overview.now)}", width).rstrip(), "bold")
    sums = f"{sum(q.due for q in overview.queues)} due, {sum(q.running for q in overview.queues)} running"
    connections = f"{overview.connections} of {overview.max_connections} connections"
    yield Line(cut(f"last tick {ticked}   {sums}   {connections}", width).rstrip())
    if overview.paused_everything:
        yield Line(cut("All jobs are paused. To resume: minutehand resume --all", width).rstrip(), "yellow")


def detail_lines(detail: Detail, overview: Overview, width: int) -> Iterator[Line]:
    """Yield the lines of one queue."""
    yield from head_lines(overview, width)
    yield Line("")
    own = [_queue(each) for each in overview.queues if each.queue == detail.queue]
    yield from _table(QUEUES, own or [[detail.queue, *[""] * (len(QUEUES) - 1)]], width)
    if detail.why:
        yield Line("")
        yield from (Line(line) for line in wrap(f"Why: {detail.why.sentence}", width))
        if detail.why.next_step:
            yield from _next_step(text.safe(f"Next: {detail.why.next_step}"), width)
    if jobs := [_job(each, overview.now) for each in (*detail.busy, *detail.due)]:
        yield Line("")
        yield from _table(JOBS, jobs, width)
    yield from failing_lines(detail.failing, width)


def _next_step(step: str, width: int) -> Iterator[Line]:
    whole = wrap(step, width)
    for line in whole if len(whole) == 1 else wrap_instructions(step, width):
        # The live view cuts lines that do not fit, so a longer command is broken after all.
        yield from (Line(part) for part in wrap(line, width, following="    "))


def failing_lines(failing: Sequence[Failing], width: int) -> Iterator[Line]:
    """Yield the kinds that fail, if any does."""
    if failing:
        yield Line("")
        rows = [[f.kind, f.queue, str(f.dead or ""), str(f.retrying or ""), f.error or ""] for f in failing]
        yield from _table(FAILING, rows, width)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    rows = [[text.safe(cell) for cell in row] for row in rows]
    layout = fit(columns, rows, width)
    head = [each.name for each in layout.columns]
    for number, cells in enumerate([head, *([row[place] for place in layout.places] for row in rows)]):
        parts = [
            cut(cell, size, right=each.number)
            for cell, size, each in zip(cells, layout.widths, layout.columns, strict=True)
        ]
        yield Line((" " * GAP).join(parts).rstrip(), "" if number else "bold")


def _queue(each: QueueFigures) -> list[str]:
    due = f"{each.due}+" if each.due >= COUNTED else str(each.due)
    late = text.span(each.late) if each.late else ""
    budget = "" if each.budget is None else str(each.budget)
    counts = [str(count) for count in (each.offered, each.running, each.enqueued, each.finished)]
    return [each.queue, due, late, *counts, budget, "paused" if each.paused else ""]


def _job(each: Job, now: datetime) -> list[str]:
    since = text.span(now - each.since)
    return [
        str(each.id)[:18],
        each.kind,
        each.key or "",
        each.state,
        since,
        str(each.attempts),
        each.error or "",
    ]
