"""The live view: read, draw, and wait for a key, until `q` or Ctrl-C."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from minutehand.cli.actor import actor
from minutehand.cli.text import safe
from minutehand.cli.top.keys import each_key, read_key
from minutehand.cli.top.lines import Line, detail_lines, overview_lines
from minutehand.cli.top.view import Action, View, press, select_in
from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.operations import controls
from minutehand.queries.top import Detail, Overview, detail, overview


class LiveTop:
    """The queues of a database on a terminal."""

    def __init__(self, database: Database, interval: float) -> None:
        """Read the queues; an error in this first reading is raised."""
        self._database, self._interval = database, interval
        self._overview: Overview = overview(database)
        self._view = select_in(View(), self._overview)
        self._detail: Detail | None = None
        self._error = ""

    def run(self, console: Console) -> None:
        """Show the queues until `q`."""
        with each_key(), Live(console=console, screen=True, auto_refresh=False) as live:

            def draw() -> None:
                live.update(self._draw(console.width, console.height), refresh=True)

            while self._until_next(draw):
                self._refresh()

    def _until_next(self, draw: Callable[[], None]) -> bool:
        """Draw, and handle keys until the next reading; return False for `q`."""
        deadline = monotonic() + self._interval
        draw()
        while (left := deadline - monotonic()) > 0 and (key := read_key(left)):
            before = self._view
            self._view, action = press(self._view, key, self._overview)
            if action == "quit":
                return False
            self._change(action)
            if action or before.opened != self._view.opened:
                self._refresh()
            draw()
        return True

    def _refresh(self) -> None:
        """Read again. The screen stays, with the error, while the database cannot be read."""
        try:
            self._overview = overview(self._database)
            self._view = select_in(self._view, self._overview)
            opened = self._view.selected if self._view.opened else None
            self._detail = detail(self._database, opened) if opened else None
            self._error = ""
        except MinutehandError as error:
            self._error = safe(str(error))

    def _change(self, action: Action | None) -> None:
        if action not in ("pause", "resume") or self._view.selected is None:
            return
        queue = self._view.selected
        try:
            if action == "pause":
                controls.pause(self._database, queue=queue, reason="paused in minutehand top", actor=actor())
                message = f"Queue {queue} is paused."
            elif controls.resume(self._database, queue=queue, actor=actor()):
                message = f"Queue {queue} is resumed."
            else:
                message = f"Queue {queue} has no pause of its own; see: minutehand controls"
        except MinutehandError as error:
            message = safe(str(error))
        self._view = replace(self._view, message=message)

    def _draw(self, width: int, height: int) -> Group:
        shown = self._detail if self._view.opened else None
        lines = list(
            detail_lines(shown, self._overview, width) if shown else overview_lines(self._overview, width)
        )
        lines = _around(lines, self._view.selected, max(1, height - 1))
        lines += [Line("")] * (height - 1 - len(lines))
        foot = Text(self._error or self._view.question, "red" if self._error else "dim")
        return Group(
            *(_styled(line, None if shown else self._view.selected) for line in lines), _one_line(foot)
        )


def _around(lines: list[Line], selected: str | None, height: int) -> list[Line]:
    """Return as many lines as fit, with the selected queue among them."""
    place = next((n for n, line in enumerate(lines) if selected and line.queue == selected), 0)
    first = max(0, place - height + 1)
    return lines[first : first + height]


def _styled(line: Line, selected: str | None) -> Text:
    is_selected = line.queue is not None and line.queue == selected
    return _one_line(Text(line.text, "reverse" if is_selected else line.style))


def _one_line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
