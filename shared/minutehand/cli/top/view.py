"""The state of the live view, and the effects of keys on it."""

from dataclasses import dataclass, replace
from typing import Literal

from minutehand.queries.top import Overview, QueueFigures

Action = Literal["quit", "pause", "resume"]
HELP = "up/down select   enter open   p pause or resume   q quit"
HELP_QUEUE = "esc back   p pause or resume   q quit"


@dataclass(frozen=True, kw_only=True)
class View:
    """The selected queue, whether it is open, the pending confirmation, and the result of the last change."""

    selected: str | None = None
    opened: bool = False
    confirming: Literal["pause", "resume"] | None = None
    message: str = ""

    @property
    def question(self) -> str:
        """The question that waits for an answer, or the message, or the keys."""
        if self.confirming:
            return (
                f"{self.confirming.capitalize()} queue {self.selected}? Press y to confirm, or another key."
            )
        return self.message or (HELP_QUEUE if self.opened else HELP)


def select_in(view: View, overview: Overview) -> View:
    """Select the first queue if none is selected, or the selected one is gone."""
    names = [each.queue for each in overview.queues]
    if view.opened or view.selected in names:
        return view
    return replace(view, selected=names[0] if names else None, confirming=None)


def press(view: View, key: str, overview: Overview) -> tuple[View, Action | None]:
    """Return the view after a key, and what the key asks for."""
    if view.confirming:
        return replace(view, confirming=None, message=""), view.confirming if key == "y" else None
    view = replace(view, message="")
    match key:
        case "q":
            return view, "quit"
        case "up" | "down" if not view.opened:
            return _move(view, -1 if key == "up" else 1, overview), None
        case "enter" if view.selected:
            return replace(view, opened=True), None
        case "back":
            return replace(view, opened=False), None
        case "p" if view.selected:
            figures = figures_of(view.selected, overview)
            paused = figures is not None and figures.paused
            return replace(view, confirming="resume" if paused else "pause"), None
    return view, None


def figures_of(queue: str | None, overview: Overview) -> QueueFigures | None:
    """Return the figures of a queue, or None if it has no work."""
    return next((each for each in overview.queues if each.queue == queue), None)


def _move(view: View, step: int, overview: Overview) -> View:
    names = [each.queue for each in overview.queues]
    if view.selected not in names:
        return view
    place = min(max(names.index(view.selected) + step, 0), len(names) - 1)
    return replace(view, selected=names[place])
