"""The report as one HTML file, without scripts, fonts, images or network access."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from minutehand_pipeline.report import words
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page.view import page_values


def render(result: ReportResult, busiest: Sequence[float]) -> str:
    """Return the page; `busiest` has the busy workers of each hour's busiest minute.

    The template engine escapes every text, because kinds, tenants and messages are untrusted.
    """
    folder = files(__package__)
    sources = {
        name: folder.joinpath(name).read_text("utf-8") for name in ("page.html", "parts.html", "style.css")
    }
    environment = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_filters(str(result.summary["currency"])))
    return environment.get_template("page.html").render(**page_values(result, busiest))


def _filters(currency: str) -> dict[str, Any]:
    named = ("count", "short_count", "number", "seconds", "share", "points", "day", "short_day")
    filters = {name: getattr(words, name) for name in named}
    filters["money"] = lambda value: words.money(value, currency)
    filters["change"] = lambda value, format="short_count": words.change(value, filters[format])
    return filters
