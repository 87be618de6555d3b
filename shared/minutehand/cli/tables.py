"""Tables that fit a terminal: long cells are cut with an ellipsis, and less important columns are left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

GAP = 2
# By the first word of a state in words, see `text.state`.
STYLES = {
    "dead": "red",
    "done": "green",
    "expired": "dim",
    "cancelled": "dim",
    "running": "bold",
    "retries": "yellow",
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table.

    Its cells are cut to at least `least` characters; without it, they are never cut. Columns of the highest `rank` are
    left out first, those of rank 0 never. `short` is the name in a narrow table. Numbers are aligned to the right.
    """

    name: str
    short: str = ""
    least: int | None = None
    rank: int = 0
    number: bool = False


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The columns of a table that fit: their places, names and widths, and the names of the numbers left out."""

    columns: tuple[Column, ...]
    places: tuple[int, ...]
    widths: tuple[int, ...]
    missing: tuple[str, ...] = ()


def column(name: str | Column) -> Column:
    """Return the column of a name: its cells may be cut."""
    return name if isinstance(name, Column) else Column(name=name, least=8)


def fit(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Layout:
    """Return the layout of a table in a terminal of this width. Empty columns are left out."""
    places = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    missing: list[str] = []
    while True:
        full = tuple(columns[place] for place in places)
        short = tuple(replace(each, name=each.short or each.name) for each in full)
        for shown in (full, short):
            widths = _shrink(_natural(shown, places, rows), shown, width)
            if widths is not None:
                return Layout(columns=shown, places=tuple(places), widths=widths, missing=tuple(missing))
        last = max(places, key=lambda place: columns[place].rank)
        if columns[last].rank == 0:
            return _squeeze(short, places, rows, width, missing)
        places.remove(last)
        missing += [columns[last].name] * columns[last].number


def _squeeze(
    columns: tuple[Column, ...],
    places: list[int],
    rows: Sequence[Sequence[str]],
    width: int,
    missing: list[str],
) -> Layout:
    """Return a layout that cuts cells below their least width; those of columns that are never cut come last."""
    natural = _natural(columns, places, rows)
    for smallest in ({"cut": 3, "whole": None}, {"cut": 1, "whole": 1}):
        given = tuple(
            replace(each, least=smallest["whole" if each.least is None else "cut"]) for each in columns
        )
        if (widths := _shrink(natural, given, width)) is not None:
            break
    return Layout(
        columns=columns, places=tuple(places), widths=widths or (1,) * len(places), missing=tuple(missing)
    )


def _natural(columns: Sequence[Column], places: Sequence[int], rows: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    return [
        max(cell_len(text) for text in (each.name, *(row[place] for row in rows)))
        for each, place in zip(columns, places, strict=True)
    ]


def _shrink(natural: Sequence[int], columns: Sequence[Column], width: int) -> tuple[int, ...] | None:
    """Cut the widest columns until the table fits; return None if it cannot."""
    room = width - GAP * (len(natural) - 1)
    widths = [min(each, max(room, 1)) if columns[n].least else each for n, each in enumerate(natural)]
    while sum(widths) > room:
        able = [n for n, each in enumerate(columns) if each.least is not None and widths[n] > each.least]
        if not able:
            return None
        widths[max(able, key=lambda n: widths[n])] -= 1
    return tuple(widths)


def terminal_lines(layout: Layout, rows: Sequence[Sequence[str]], *, headed: bool) -> Iterator[str]:
    """Yield the lines of a table with the terminal's colors."""
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True)
    styles = ["bold"] * len(layout.places)
    lines = [([each.name for each in layout.columns], styles)] if headed else []
    lines += [
        (cells, _styles(layout, cells)) for cells in ([row[place] for place in layout.places] for row in rows)
    ]
    for cells, styles in lines:
        line = Text(" " * GAP).join(
            Text(cut(cell, width, right=each.number), style)
            for cell, width, each, style in zip(cells, layout.widths, layout.columns, styles, strict=True)
        )
        line.rstrip()
        with console.capture() as capture:
            console.print(line, end="")
        yield capture.get()


def cut(text: str, width: int, *, right: bool = False) -> str:
    """Return a text of exactly this width, with an ellipsis if it is cut."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _styles(layout: Layout, cells: Sequence[str]) -> list[str]:
    return [
        STYLES.get(cell.partition(" ")[0], "") if each.name == "state" else ""
        for each, cell in zip(layout.columns, cells, strict=True)
    ]
