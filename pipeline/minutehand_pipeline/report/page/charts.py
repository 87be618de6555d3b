"""Charts as values for the template: shapes in percent of their box, and the words that stand at them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from minutehand_pipeline.report import words
from minutehand_pipeline.report.page.scale import Scale, apart

LABELS = 6  # along the time axis; a narrow page shows every other
BETWEEN_LABELS = 13.0  # percent of the height

Say = Callable[[float], str]


@dataclass(frozen=True)
class Mark:
    """Words at a place of an axis, in percent."""

    place: float
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Bar:
    """A bar, in percent of the box; `text` is what it stands for, `faint` says that its day was not over."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    text: str
    faint: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points, with gaps where there is nothing: an SVG path, and its tone."""

    path: str
    tone: str


@dataclass(frozen=True)
class Chart:
    """A chart: what it shows in words, its bars and lines, its axes, and names at its lines' ends."""

    title: str
    alt: str
    bars: Sequence[Bar]
    lines: Sequence[Line]
    ticks: Sequence[Mark]
    times: Sequence[Mark]
    ends: Sequence[Mark] = ()
    rule: Mark | None = None
    keys: Sequence[Mark] = ()


@dataclass(frozen=True)
class Series:
    """Values over time, None where there is none; the tone names its colour in the style."""

    name: str
    tone: str
    values: Sequence[float | None]


def bars(
    title: str, alt: str, days: Sequence[date], series: Sequence[Series], scale: Scale, say: Say,
    faint: Sequence[bool], rule: tuple[float, str] | None = None,
) -> Chart:  # fmt: skip
    """Return stacked bars, one a day."""
    step = 100 / max(1, len(days))
    drawn = []
    for place, day in enumerate(days):
        below = 0.0
        told = f"{words.day(day)}: " + ", ".join(
            f"{say(each.values[place] or 0)} {each.name}".strip() for each in series
        )
        for each in series:
            value = each.values[place] or 0
            top, bottom = scale.place(below + value), scale.place(below)
            if value:
                # What is there is seen, however small.
                height = max(round(bottom - top, 2), 0.8)
                drawn.append(Bar(round(place * step + step * 0.14, 3), round(bottom - height, 2), round(step * 0.72, 3),
                                 height, each.tone, told, faint[place]))  # fmt: skip
            below += value
    keys = [Mark(0, each.name, each.tone) for each in series] if len(series) > 1 else []
    return Chart(
        title,
        alt,
        drawn,
        [],
        _ticks(scale, say),
        _times(days, middle=True),
        rule=_rule(rule, scale),
        keys=keys,
    )


def lines(
    title: str, alt: str, days: Sequence[date], series: Sequence[Series], scale: Scale, say: Say,
    rule: tuple[float, str] | None = None,
) -> Chart:  # fmt: skip
    """Return a line for each series, its name and last value at its end."""
    drawn = [Line(_path(each.values, scale), each.tone) for each in series]
    last = [(each, value) for each in series if (value := _last(each.values)) is not None]
    places = apart([scale.place(value) for _, value in last], BETWEEN_LABELS)
    ends = [
        Mark(place, f"{each.name} {say(value)}", each.tone)
        for (each, value), place in zip(last, places, strict=True)
    ]
    return Chart(
        title, alt, [], drawn, _ticks(scale, say), _times(days, middle=True), ends, _rule(rule, scale)
    )


def area(
    title: str, alt: str, since: date, hours: Sequence[float], scale: Scale, say: Say,
    rule: tuple[float, str] | None = None,
) -> Chart:  # fmt: skip
    """Return an area under hourly values from a day's beginning on."""
    path = _path(hours, scale)
    shape = Line(f"{path}V100H{_x(0, len(hours))}Z", "area")
    days = [since + timedelta(days=n) for n in range(len(hours) // 24)]
    return Chart(
        title, alt, [], [shape], _ticks(scale, say), _times(days, middle=False), rule=_rule(rule, scale)
    )


def spark(values: Sequence[float], tone: str = "first") -> list[Bar]:
    """Return little bars without axes, that show a course and no numbers."""
    most, step = max(values, default=0) or 1, 100 / max(1, len(values))
    return [
        Bar(round(n * step + step * 0.1, 3), round(100 - 100 * value / most, 2), round(step * 0.8, 3),
            round(100 * value / most, 2), tone, "")
        for n, value in enumerate(values)
    ]  # fmt: skip


def _x(place: int, of: int) -> float:
    return round((place + 0.5) / of * 100, 3)


def _path(values: Sequence[float | None], scale: Scale) -> str:
    path, gap = [], True
    for place, value in enumerate(values):
        if value is not None:
            path.append(f"{'M' if gap else 'L'}{_x(place, len(values))} {scale.place(value)}")
            if gap and (place + 1 == len(values) or values[place + 1] is None):
                path.append("h.01")  # a day alone is a dot
        gap = value is None
    return "".join(path)


def _ticks(scale: Scale, say: Say) -> list[Mark]:
    return [Mark(scale.place(each), say(each)) for each in scale.ticks]


def _times(days: Sequence[date], *, middle: bool) -> list[Mark]:
    """Return labels for some of the days: Mondays if there are weeks, else evenly."""
    places = [n for n, day in enumerate(days) if day.weekday() == 0] if len(days) > 10 else range(len(days))
    step = -(-len(places) // LABELS) or 1
    return [
        Mark(round((place + middle / 2) / len(days) * 100, 2), words.short_day(days[place]), "odd" * (n % 2))
        for n, place in enumerate(list(places)[::step])
    ]  # fmt: skip


def _rule(rule: tuple[float, str] | None, scale: Scale) -> Mark | None:
    return rule and Mark(scale.place(rule[0]), rule[1])


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)
