"""The table of docs/metrics.md is generated from the declarations, and the dashboard uses the metrics that exist."""

import json
import re
from typing import Any

from minutehand.metrics.table import METRICS, Metric
from tests.docs.generated import check_table
from tests.docs.reading import ROOT

DASHBOARD = ROOT / "docs" / "dashboards" / "minutehand.json"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}


def table() -> str:
    lines = [
        "| Metric | Kind | Source | Meaning | Watch for | Dimensions |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for metric in METRICS.values():
        cells = (metric.kind, metric.source, metric.meaning, metric.watch, ", ".join(metric.labels))
        lines.append(f"| `{metric.name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_page_contains_every_metric() -> None:
    check_table(ROOT / "docs" / "metrics.md", "metrics", table())


def series(metric: Metric) -> set[str]:
    """Return the names under which Prometheus stores a metric."""
    return {f"minutehand_{metric.name}{suffix}" for suffix in SUFFIXES[metric.kind]}


def expressions(value: Any) -> list[str]:
    """Return the queries of a dashboard: those of its panels and of its variables."""
    if isinstance(value, dict):
        own = [text for name, text in value.items() if name in ("expr", "query") and isinstance(text, str)]
        return own + [text for each in value.values() for text in expressions(each)]
    return [text for each in value for text in expressions(each)] if isinstance(value, list) else []


def test_dashboard_queries_metrics_that_exist() -> None:
    known = {name: metric for metric in METRICS.values() for name in series(metric)}
    found = [text for text in expressions(json.loads(DASHBOARD.read_text("utf-8"))) if "minutehand_" in text]

    assert len(found) >= 15
    for text in found:
        names = re.findall(r"minutehand_\w+", text)
        assert {*names} <= known.keys(), text
        labels = {*re.findall(r"(\w+) *=~?", text), *re.findall(r"by \(([^)]*)\)", text)}
        used = {label.strip() for each in labels for label in each.split(",")} - {"le"}
        assert all(used <= {*known[name].labels} for name in names), text
        # Counters only make sense as rates, also of a histogram's.
        for name in names:
            if known[name].kind != "gauge" and "label_values" not in text:
                assert re.search(rf"(rate|increase)\({name}\b", text), text


def test_panels_of_the_dashboard_name_a_command_and_have_a_place() -> None:
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    panels = dashboard["panels"]

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(re.search(r"`minutehand \w+", panel["description"]) for panel in panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len({*cells}) == len(cells)
    assert all(x < 24 for x, _ in cells)
