"""Charts as values for the template: positions in percent of the chart's box, and labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from minutehand_pipeline.report import words
from minutehand_pipeline.report.page.scale import Scale, apart

# Labels on the time axis; a narrow page hides every other one.
LABELS = 6
# The least distance of labels at the ends of lines, in percent of the height.
LABEL_DISTANCE = 13.0
# The least height of a bar, so that small values are visible.
MIN_BAR = 0.8

Format = Callable[[float], str]
# A value on the axis, and its label.
Rule = tuple[float, str]


@dataclass(frozen=True)
class Label:
    """A text at a position of an axis, in percent."""

    place: float
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Bar:
    """A bar, in percent of the box. `text` is its tooltip; `faint` marks an incomplete day."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    text: str
    faint: bool = False


@dataclass(frozen=True)
class Line:
    """A line as an SVG path, with gaps for missing values."""

    path: str
    tone: str


@dataclass(frozen=True)
class Chart:
    """A chart: title, text alternative, bars and lines, axes, labels at the ends of lines, and legend."""

    title: str
    alt: str
    bars: Sequence[Bar]
    lines: Sequence[Line]
    ticks: Sequence[Label]
    times: Sequence[Label]
    ends: Sequence[Label] = ()
    rule: Label | None = None
    keys: Sequence[Label] = ()


@dataclass(frozen=True)
class Series:
    """Values over time, None if missing. The tone names a color of the style sheet."""

    name: str
    tone: str
    values: Sequence[float | None]


def bars(
    title: str,
    alt: str,
    days: Sequence[date],
    series: Sequence[Series],
    scale: Scale,
    format: Format,
    faint: Sequence[bool],
    rule: Rule | None = None,
) -> Chart:
    """Return a chart of stacked bars, one stack per day."""
    step = 100 / max(1, len(days))
    drawn = []
    for index, day in enumerate(days):
        values = ", ".join(f"{format(each.values[index] or 0)} {each.name}".strip() for each in series)
        drawn += _stack(index, step, series, scale, f"{words.day(day)}: {values}", faint[index])
    keys = [Label(0, each.name, each.tone) for each in series] if len(series) > 1 else []
    ticks, times = _ticks(scale, format), _times(days, middle=True)
    return Chart(title, alt, drawn, [], ticks, times, rule=_rule(rule, scale), keys=keys)


def lines(
    title: str,
    alt: str,
    days: Sequence[date],
    series: Sequence[Series],
    scale: Scale,
    format: Format,
    rule: Rule | None = None,
) -> Chart:
    """Return a chart with a line for each series, and its name and last value at its end."""
    drawn = [Line(_path(each.values, scale), each.tone) for each in series]
    last = [(each, value) for each in series if (value := last_value(each.values)) is not None]
    places = apart([scale.place(value) for _, value in last], LABEL_DISTANCE)
    ends = [
        Label(place, f"{each.name} {format(value)}", each.tone)
        for (each, value), place in zip(last, places, strict=True)
    ]
    ticks, times = _ticks(scale, format), _times(days, middle=True)
    return Chart(title, alt, [], drawn, ticks, times, ends, _rule(rule, scale))


def area(
    title: str,
    alt: str,
    since: date,
    hours: Sequence[float],
    scale: Scale,
    format: Format,
    rule: Rule | None = None,
) -> Chart:
    """Return a chart with the area under hourly values, from the start of a day."""
    path = _path(hours, scale)
    shape = Line(f"{path}V100H{_x(0, len(hours))}Z", "area")
    days = [since + timedelta(days=n) for n in range(len(hours) // 24)]
    ticks, times = _ticks(scale, format), _times(days, middle=False)
    return Chart(title, alt, [], [shape], ticks, times, rule=_rule(rule, scale))


def sparkline(values: Sequence[float], tone: str = "first") -> list[Bar]:
    """Return small bars without axes."""
    highest, step = max(values, default=0) or 1, 100 / max(1, len(values))
    heights = [100 * value / highest for value in values]
    return [
        Bar(_start(n, step, 0.1), round(100 - height, 2), round(step * 0.8, 3), round(height, 2), tone, "")
        for n, height in enumerate(heights)
    ]


def last_value(values: Sequence[float | None]) -> float | None:
    """Return the last value that is not missing."""
    return next((value for value in reversed(values) if value is not None), None)


def _stack(
    index: int, step: float, series: Sequence[Series], scale: Scale, text: str, faint: bool
) -> list[Bar]:
    drawn, below = [], 0.0
    x, width = _start(index, step, 0.14), round(step * 0.72, 3)
    for each in series:
        value = each.values[index] or 0
        top, bottom = scale.place(below + value), scale.place(below)
        if value:
            height = max(round(bottom - top, 2), MIN_BAR)
            drawn.append(Bar(x, round(bottom - height, 2), width, height, each.tone, text, faint))
        below += value
    return drawn


def _start(index: int, step: float, margin: float) -> float:
    return round((index + margin) * step, 3)


def _x(index: int, count: int) -> float:
    return round((index + 0.5) / count * 100, 3)


def _path(values: Sequence[float | None], scale: Scale) -> str:
    path, gap = [], True
    for index, value in enumerate(values):
        if value is not None:
            path.append(f"{'M' if gap else 'L'}{_x(index, len(values))} {scale.place(value)}")
            if gap and (index + 1 == len(values) or values[index + 1] is None):
                # Draws a single value as a dot.
                path.append("h.01")
        gap = value is None
    return "".join(path)


def _ticks(scale: Scale, format: Format) -> list[Label]:
    return [Label(scale.place(each), format(each)) for each in scale.ticks]


def _times(days: Sequence[date], *, middle: bool) -> list[Label]:
    """Return labels for some of the days: Mondays if there are more than ten days, otherwise evenly spaced."""
    places = [n for n, day in enumerate(days) if day.weekday() == 0] if len(days) > 10 else range(len(days))
    step = -(-len(places) // LABELS) or 1
    return [
        Label(round((place + middle / 2) / len(days) * 100, 2), words.short_day(days[place]), "odd" * (n % 2))
        for n, place in enumerate(list(places)[::step])
    ]


def _rule(rule: Rule | None, scale: Scale) -> Label | None:
    return rule and Label(scale.place(rule[0]), rule[1])
