"""The page in a browser, at several widths and in both color schemes."""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page import render
from minutehand_pipeline.report.tables import ALL
from minutehand_pipeline.schemas import HOMES
from tests.browsers import opened_page

SCRIPT = "<script>document.title='taken'</script><img src=http://example.org/x onerror=alert(1)>"
HOSTILE = SCRIPT + "\"' {{ 7 * 7 }} & \u202e"
SINCE, DAYS = date(2026, 3, 2), 28

# The contrast of every element with text, against its background.
CONTRAST = """() => {
  const channel = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4
  const read = text => text.match(/[\\d.]+/g).map(Number)
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b)
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(n => top[n] * a + below[n] * (1 - a)) }
  const ground = node => {
    const layers = []
    for (; node; node = node.parentElement) layers.unshift(read(getComputedStyle(node).backgroundColor))
    return layers.reduce((below, top) => over(top, below), [255, 255, 255])
  }
  const own = node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim())
  const shown = node => own(node) && node.getClientRects().length && !node.closest('svg')
  const name = node => [node.tagName, node.className, node.textContent.slice(0, 40)].join(' ')
  return [...document.body.querySelectorAll('*')].filter(shown).map(node => {
      const [a, b] = [light(read(getComputedStyle(node).color)), light(ground(node))]
      return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), name(node)]
    }).filter(([ratio]) => ratio < 4.5)
}"""


def row(table: str, **values: Any) -> dict[str, Any]:
    """Return a row of a table, with default values."""
    usual = {
        "bigint": 3,
        "double": 0.5,
        "string": "email",
        "boolean": False,
        "date": SINCE,
        "timestamp": datetime(2026, 3, 2, tzinfo=UTC),
        "array<string>": ["email"],
    }
    columns = next(each for each in ALL if each.name == table).columns
    return {each.name: values.get(each.name, usual[each.type.simpleString()]) for each in columns}


def result(name: str = "email", message: str = "no route to <number>") -> ReportResult:
    """Return a result that uses all parts of the page, with the given names."""
    days = [
        row(
            "days",
            day=SINCE + timedelta(days=n),
            jobs=1000 + 100 * n,
            done=990,
            dead=n,
            burn=n / 9,
            late=n,
            wait_p50=20 + 9 * math.sin(n),
            wait_p95=50.0,
            wait_p99=60.0 + n,
            partial=n == DAYS - 1,
        )
        for n in range(DAYS)
    ]
    tables = {
        "hours": [],
        "throughput": [],
        "peaks": [],
        "days": days,
        "weeks": [
            row("weeks", week=SINCE + timedelta(days=7 * n), whole=True, jobs=70_000 + n) for n in range(4)
        ],
        "durations": [
            row("durations", what=what, queue=queue, kind=kind)
            for what in ("wait", "run")
            for queue, kind in ((None, None), (name, None), (name, name))
        ],
        "retries": [row("retries", queue=name, kind=name)] * 25,
        "failures": [
            row("failures", type=name, message=message, example=name, kinds=[name]),
            row("failures", deaths=0),
        ],
        "lateness": [row("lateness", queue=None, kind=None), row("lateness", queue=name, kind=name)],
        "costs": [row("costs", kind=name)],
        "tenants": [row("tenants", tenant=name), row("tenants", tenant="")],
        "capacity": [
            row("capacity", capacity=7, mode="minute", advised=True),
            row("capacity", mode="prompt"),
        ],
    }
    summary = {
        "made_by": "minutehand pipeline report",
        "headline": "Last week: 1.2 M jobs, 99.3 % started within 60 s, 41 dead, $12.30.",
        "since": "2026-03-02",
        "until": "2026-03-29",
        "queue": None,
        "objective_seconds": 60.0,
        "target": 0.99,
        "currency": "$",
        "architecture": "arm64",
        "prices": {"dated": "2026-10-02"},
        "week": {"week": SINCE},
        "totals": {
            "jobs": 9,
            "done": 9,
            "dead": 9,
            "expired": 9,
            "cancelled": 9,
            "counted": 9,
            "late": 1,
            "within": 0.9,
            "burn": 2,
            "cost": 9.0,
        },
        "mean_busy": 1.5,
        "peak_busy": 6.0,
        "notes": ["29 March was not over."],
        "advice": [f"Set MINUTEHAND_CAPACITY: {name}."],
        "no_advice": "",
        "assumptions": ["None."],
    }
    return ReportResult(summary["headline"], summary, tables)  # type: ignore[arg-type]


@pytest.fixture(params=[(1280, "light"), (390, "dark"), (320, "light")], ids=str)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page that fails the test for console messages, network requests and errors."""
    width, scheme = request.param
    faults: list[str] = []
    with opened_page(browser, viewport={"width": width, "height": 900}, color_scheme=scheme) as opened:
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("console", lambda message: faults.append(message.text))
        opened.on(
            "request", lambda sent: faults.append(sent.url) if not sent.url.startswith("file:") else None
        )
        yield opened
    assert faults == []


def show(page: Page, folder: Path, shown: ReportResult) -> None:
    file = folder / "index.html"
    file.write_text(render(shown, [n % 7 for n in range(24 * DAYS)]), "utf-8")
    page.goto(file.as_uri())


def test_page_fits_is_readable_and_needs_no_network(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, result())

    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(CONTRAST) == []
    assert page.get_by_role("heading", level=1).inner_text().startswith("Last week: 1.2 M jobs")
    assert page.get_by_role("img").count() == 5  # charts, each with a text alternative
    assert all(len(chart.get_attribute("aria-label") or "") > 40 for chart in page.get_by_role("img").all())
    assert page.locator("table").count() == page.locator("table > caption").count() == 8
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(each => +each.tagName[1])")
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    overlapping = """all => all.some((a, n) => all.some((b, m) => { if (m <= n) return false
        const [one, two] = [a.getBoundingClientRect(), b.getBoundingClientRect()]
        return one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom }))"""
    for chart in page.locator(".plot").all():
        for labels in (".time:visible", ".end", ".tick"):
            assert not chart.locator(labels).evaluate_all(overlapping), labels


def test_page_escapes_untrusted_names(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, result(HOSTILE * 3, HOSTILE * 20))

    assert page.title().startswith("The queue from 2 to 29 March 2026")
    assert page.locator("script, main img").count() == 0
    assert (
        "{{ 7 * 7 }}" in page.locator("main").inner_text()
        and "document.title" in page.locator("main").inner_text()
    )
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_page_has_no_external_references(tmp_path: Path) -> None:
    text = render(result(), [0.0] * 24 * DAYS)

    assert "default-src 'none'" in text and "<script" not in text
    assert "http://" not in text and "https://" not in text and "url(" not in text
    assert len(text.encode()) < 200_000
    assert not any(name in text for name in {"payload"} & set(HOMES["jobs_done"].schema.names))


def test_printed_page_is_dark_on_light(browser: Browser, tmp_path: Path) -> None:
    with opened_page(browser, color_scheme="dark", viewport={"width": 794, "height": 1123}) as page:
        show(page, tmp_path, result())
        page.emulate_media(media="print", color_scheme="dark")

        assert (
            page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()")
            == "#fff"
        )
        assert page.evaluate(CONTRAST) == []
