"""The report as one HTML file that needs nothing else: no script, no font, no picture, no network."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from minutehand_pipeline.report import words
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page.view import view_of


def render(result: ReportResult, busiest: Sequence[float]) -> str:
    """Return the page; `busiest` are the workers that each hour's busiest minute kept busy.

    Every text is escaped by the template's engine: kinds, tenants and messages are other people's.
    """
    own = files(__package__)
    sources = {
        name: own.joinpath(name).read_text("utf-8") for name in ("page.html", "parts.html", "style.css")
    }
    environment = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_filters(str(result.summary["currency"])))
    return environment.get_template("page.html").render(**view_of(result, busiest))


def _filters(currency: str) -> dict[str, Any]:
    named = ("count", "short_count", "number", "seconds", "share", "points", "day", "short_day")
    filters = {name: getattr(words, name) for name in named}
    filters["money"] = lambda value: words.money(value, currency)
    filters["change"] = lambda value, how="short_count": words.change(value, filters[how])
    return filters
