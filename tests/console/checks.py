"""Checks of every page and dialog: no violation of axe, no overflow, and no character that turns text around."""

from pathlib import Path

from playwright.sync_api import Page, expect

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RUN = "async () => (await axe.run()).violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html)])"
TURNING = (
    r"() => [document.title, document.body.innerText].join().match(/[\u061c\u202a-\u202e\u2066-\u2069]/)?.[0]"
)
# An ordinary run opens each page once, alternately in the first two: narrow and dark, wide and light.
VIEWS = [(320, "dark"), (1280, "light"), (768, "light"), (768, "dark"), (320, "light"), (1280, "dark")]


def show(page: Page, address: str, width: int, scheme: str) -> None:
    """Open a page in a view, and wait for its data."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)


def faults_of(page: Page) -> list[object]:
    """Return the violations that axe finds, the page's width if it is wider than the screen, and turned text."""
    # Through the developer tools, because the page's policy allows no other script.
    page.evaluate(AXE)
    found: list[object] = page.evaluate(RUN)
    width, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if width > screen:
        found.append(f"its width is {width} px")
    if turned := page.evaluate(TURNING):
        found.append(f"it has the character {turned!r}")
    if page.title() == "broken into":
        found.append("a script ran")
    return found
