"""Home: what needs attention, the history, and links from each number to its jobs."""

import re

from playwright.sync_api import Page, expect

from minutehand import Database
from tests.console.conftest import Serve
from tests.console.examples import enqueue_examples

ROWS = "tbody tr"


def test_home_is_calm_without_jobs(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")

    expect(page.locator(".calm")).to_have_text(re.compile("Nothing needs attention"))
    expect(page.locator(".empty")).to_contain_text("No jobs yet")


def test_attention_and_numbers_lead_to_their_jobs(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    page.goto(url)
    item = page.locator(".attention li").filter(has_text="report.build")
    expect(item).to_contain_text("Failing")
    expect(page.locator(".attention")).to_contain_text("the provider has an incident")
    item.get_by_role("link", name="Show 1 job").click()
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("KeyError: 'total'")

    page.goto(url)
    tile = page.get_by_role("link", name="Done in 24 hours")
    expect(tile).to_contain_text("3")
    tile.click()
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page.locator(ROWS).first).to_contain_text("invoice.send")


def test_charts_show_the_window_of_the_address(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.get_by_role("link", name="1 hour").click()

    expect(page).to_have_url(re.compile("window=1h"))
    finished = page.get_by_role("region", name="Finished jobs")
    expect(finished.locator("figcaption")).to_contain_text("3 done, 1 dead")
    expect(finished.locator("svg a")).to_have_count(60)
    expect(page.get_by_role("region", name="Wait before").locator("figcaption")).to_contain_text(
        "half within"
    )
