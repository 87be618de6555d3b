"""The plots of the page: SVG with a transparent background and colors that are readable on light and dark pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from bench.page.data import IMAGES, PLOTS, digest
from bench.page.titles import TITLES
from bench.queues.cases import CASES, WORKERS
from bench.queues.systems import OURS
from bench.results import Results

TEXT, OTHERS = "#808890", "#a0a6ad"
COLORS = {OURS: "#5b7cfa", "bare": "#d9a441", "table": "#d9a441"}
LINES = ("#5b7cfa", "#d9822b", "#2aa876", "#c75aa8")
SETTINGS = {
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": TEXT,
    "font.family": "sans-serif",
    "font.size": 10,
    "legend.labelcolor": TEXT,
    "savefig.transparent": True,
    # Text stays text, and the ids are the same in each run.
    "svg.fonttype": "none",
    "svg.hashsalt": "minutehand",
    "text.color": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}


def draw_all(results: Results, folder: Path = IMAGES) -> None:
    """Write all plots."""
    draw: dict[str, Callable[[dict[str, Any]], Figure]] = {
        "performance-systems.svg": _systems,
        "performance-workers.svg": _workers,
        "performance-ticks.svg": _ticks,
    }
    with matplotlib.rc_context(SETTINGS):
        for name, data_of in PLOTS.items():
            data = data_of(results)
            metadata = {"Description": digest(data), "Date": None, "Creator": None}
            draw[name](data).savefig(folder / name, metadata=metadata, bbox_inches="tight")


def _systems(data: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(8, 7.5), layout="constrained")
    heights = [len(rates) for rates in data.values()]
    for axes, (case, rates) in zip(
        figure.subplots(len(data), 1, height_ratios=heights), data.items(), strict=True
    ):
        _bars(axes, CASES[case].title, rates)
    return figure


def _bars(axes: Axes, title: str, rates: dict[str, float]) -> None:
    order = sorted(rates, key=lambda system: rates[system])
    colors = [COLORS.get(system, OTHERS) for system in order]
    bars = axes.barh([TITLES[system] for system in order], [rates[system] for system in order], color=colors)
    axes.bar_label(bars, fmt="{:,.0f}", padding=3)
    axes.set_title(f"{title}, jobs/s", loc="left")
    axes.margins(x=0.12)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _workers(data: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for (chunk, rates), color in zip(data.items(), LINES, strict=False):
        axes.plot(WORKERS, rates, color=color, marker="o", label=f"chunks of {chunk}")
    axes.set(xscale="log", yscale="log", xlabel="workers", xticks=WORKERS, xticklabels=WORKERS)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.minorticks_off()
    axes.set_title("jobs/s", loc="left")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(frameon=False)
    return figure


def _ticks(data: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    for (case, taken), color in zip(data.items(), LINES, strict=False):
        axes.plot([int(due) for due in taken], list(taken.values()), color=color, marker="o", label=case)
    axes.set(xscale="log", xlabel="due jobs")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("duration of a tick, ms", loc="left")
    axes.legend(frameon=False)
    return figure
