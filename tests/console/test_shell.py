"""The frame of the console: its addresses and headers, sign-in, live updates, theme and narrow screens."""

from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from minutehand import Database, enqueue
from minutehand.functions.api import console_files
from tests.console.conftest import TOKEN, Serve

LATER = timedelta(days=3)


def test_console_prompts_for_a_required_token(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_CONSOLE='1', MINUTEHAND_API_TOKENS=TOKEN)}/console/jobs")
    expect(page.get_by_role("dialog")).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Escape")
    alert = page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_have_count(0)
    page.get_by_label("API token").fill("a-wrong-token-of-that-length")
    page.get_by_role("button", name="Sign in").click()
    expect(alert).to_contain_text("The API rejected the token")
    page.get_by_label("API token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()

    expect(page.locator("tbody tr")).to_contain_text("mail.send")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_reader_is_offered_no_changes(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", delay=LATER, connection=db).id
    url = f"{serve(MINUTEHAND_CONSOLE='1', MINUTEHAND_API_TOKENS=f'ada+read:{TOKEN}')}/console"
    page.goto(f"{url}/jobs")
    page.get_by_label("API token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()

    expect(page.locator(".caller")).to_have_text("ada · read-only")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.get_by_role("button", name="Enqueue a job")).to_have_count(0)
    page.locator("tbody tr").get_by_role("link").click()
    expect(page.locator(".id")).to_have_text(str(job))
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_console_is_served_only_if_enabled(serve: Serve) -> None:
    for path in ("/", "/console", "/console/jobs", f"/console/static/{console_files.version()}/app/main.js"):
        with pytest.raises(HTTPError) as refused:
            urlopen(f"{serve(MINUTEHAND_API_TOKENS=TOKEN)}{path}")
        with refused.value:
            assert refused.value.code == 404


def test_root_leads_to_the_console(page: Page, serve: Serve, db: Database) -> None:
    page.goto(serve(MINUTEHAND_LOCAL="1"))

    expect(page.get_by_role("heading", level=1)).to_have_text("Home")


def test_static_files_are_cached_and_pages_are_not(serve: Serve) -> None:
    url = serve(MINUTEHAND_LOCAL="1")
    with urlopen(f"{url}/console/jobs") as page:
        assert page.headers["cache-control"] == "no-store"
        assert "'unsafe" not in page.headers["content-security-policy"]
        assert b"<script>" not in page.read()
    with urlopen(f"{url}/console/static/{console_files.version()}/styles.css") as styles:
        assert "immutable" in styles.headers["cache-control"]
    for path in ("0123456789ab/styles.css", f"{console_files.version()}/index.html"):
        with pytest.raises(HTTPError) as refused:
            urlopen(f"{url}/console/static/{path}")
        refused.value.close()


@pytest.mark.parametrize("path", ["/jobs/a%2Fb", "/" * 2000, "/jobs/" + "a" * 2000])
def test_address_that_no_page_has_gets_a_short_answer(serve: Serve, path: str) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{serve(MINUTEHAND_LOCAL='1')}/console{path}")
    with refused.value:
        assert refused.value.code == 404
        assert len(refused.value.read()) < 300


@pytest.mark.parametrize(
    ("path", "prefix"),
    [("", "console/static/"), ("/", "static/"), ("/jobs", "static/"), ("/jobs/7", "../static/")],
)
def test_addresses_are_relative_to_the_page(path: str, prefix: str) -> None:
    assert f'"{prefix}{console_files.version()}/app/main.js"'.encode() in console_files.index(path)


def test_unknown_page_leads_home(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/nowhere")
    page.get_by_role("link", name="Go to Home").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Home")


def test_unreachable_api_is_reported_and_data_stay(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", queue="mail", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("tbody tr")).to_have_count(1)

    page.context.set_offline(True)
    page.keyboard.press("r")
    expect(page.get_by_role("alert").first).to_have_text("The API cannot be reached. Retrying.")
    expect(page.locator("tbody tr")).to_have_count(1)

    # The first answer loads everything that failed, without waiting for its next turn.
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_caller_is_loaded_again_after_a_failure(page: Page, serve: Serve, db: Database) -> None:
    page.route("**/me", lambda route: route.abort(), times=1)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")

    expect(page.get_by_role("button", name="Enqueue a job")).to_be_visible()


def test_paused_page_does_not_load_again(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(".empty")).to_be_visible()
    page.get_by_role("button", name="Live").click()
    enqueue("mail.send", delay=LATER, connection=db)

    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("button", name="Paused").wait_for()
    expect(page.locator(".empty")).to_be_visible()
    page.get_by_role("button", name="Paused").click()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_slow_loads_of_a_page_take_a_tenth_of_the_time(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    rest = page.evaluate("""async () => {
        const main = document.querySelector("script[type=module]").src;
        return (await import(new URL("live.js", main))).restAfter(2000, 3);
    }""")

    assert 3 * 2000 / (2000 + rest) == pytest.approx(0.1)


def test_theme_and_zone_are_kept(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)

    page.keyboard.type("tt")
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
