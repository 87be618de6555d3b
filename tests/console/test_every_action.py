"""Every action's dialog and its parts at three widths, light and dark, as every page."""

from collections.abc import Callable
from itertools import cycle, product

import pytest
from playwright.sync_api import Page, expect

from minutehand import Database
from tests.console.checks import VIEWS, faults_of, show
from tests.console.conftest import TOKEN, Crowd, Serve
from tests.thorough import THOROUGH

Step = tuple[str, str]


def button(name: str) -> Step:
    return "button", name


EVERY_ROW = ("checkbox", "Select all rows of this page")
# The page of each action, with {KIND} for the id of a job, and the steps to it.
ACTIONS: dict[str, tuple[str, list[Step]]] = {
    "shortcuts": ("", [button("? Shortcuts")]),
    "enqueue": ("/jobs", [button("Enqueue a job")]),
    "selected jobs": ("/jobs?queue=many", [EVERY_ROW]),
    "all that match": ("/jobs?queue=many", [EVERY_ROW, button("Select all that match")]),
    "cancel selected": ("/jobs", [EVERY_ROW, button("Cancel")]),
    "retry selected": ("/jobs?state=dead", [EVERY_ROW, button("Retry")]),
    "replay selected": ("/jobs?state=dead", [EVERY_ROW, button("Replay")]),
    "reschedule matching": (
        "/jobs?queue=many",
        [EVERY_ROW, button("Select all that match"), button("Reschedule")],
    ),
    "promote matching": (
        "/jobs?queue=many",
        [EVERY_ROW, button("Select all that match"), button("Run now")],
    ),
    "edit": ("/jobs/{attack}", [button("Edit")]),
    "run now": ("/jobs/{welcome}", [button("Run now")]),
    "reschedule": ("/jobs/{welcome}", [button("Reschedule")]),
    "cancel": ("/jobs/{attack}", [button("Cancel")]),
    "cancel running": ("/jobs/{thumbnail}", [button("Cancel")]),
    "retry": ("/jobs/{broken}", [button("Retry")]),
    "replay": ("/jobs/{broken}", [button("Replay")]),
    "payload": ("/jobs/{attack}", [button("Show payload and result")]),
    "traces": ("/jobs/{broken}", [button("Show traces")]),
    "pause queue": ("/queues", [button("Pause")]),
    "pause everything": ("/queues", [button("Pause all jobs")]),
    "retry all of a cause": ("/failures", [button("Retry all")]),
    "cancel batch": ("/batches", [button("Cancel")]),
    "retry batch": ("/batches", [button("Retry")]),
    "add schedule": ("/schedules", [button("Add a schedule")]),
    "edit schedule": ("/schedules?name=weekly+report", [button("Edit")]),
    "other checks": ("/system", [("text", "other checks")]),
}


def take_steps(page: Page, steps: list[Step]) -> None:
    for role, name in steps:
        if role == "text":
            page.get_by_text(name).first.click()
        else:
            found: Callable[..., object] = page.get_by_role
            found(role, name=name, exact=True).first.click()  # type: ignore[attr-defined]
    # A preview or a dry run has answered.
    expect(page.get_by_text("Counting …")).to_have_count(0)


@pytest.mark.thorough
def test_every_action_is_accessible_and_fits_the_screen(page: Page, crowd: Crowd) -> None:
    faults = {}
    views = product(VIEWS, ACTIONS) if THOROUGH else zip(cycle(VIEWS[:2]), ACTIONS, strict=False)
    for (width, scheme), name in views:
        path, steps = ACTIONS[name]
        show(page, crowd.url + path.format(**crowd.ids), width, scheme)
        if name == "shortcuts" and width < 1280:
            page.get_by_role("button", name="Menu").click()
        take_steps(page, steps)
        if found := faults_of(page):
            faults[f"{name} at {width} px, {scheme}"] = found
    assert faults == {}


@pytest.mark.thorough
def test_signing_in_is_accessible_and_fits_the_screen(page: Page, serve: Serve, db: Database) -> None:
    url = f"{serve(MINUTEHAND_CONSOLE='1', MINUTEHAND_API_TOKENS=TOKEN)}/console"
    faults = {}
    for width, scheme in VIEWS if THOROUGH else VIEWS[:2]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        page.goto(url)
        page.get_by_label("API token").fill("a-wrong-token-of-that-length")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
        if found := faults_of(page):
            faults[f"{width} px, {scheme}"] = found
        page.get_by_label("API token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.evaluate("sessionStorage.clear()")
    assert faults == {}
