"""Copy buttons: the clipboard has the text as it is stored, not as it is shown."""

import pytest
from playwright.sync_api import Page, expect

from minutehand import Database, enqueue
from minutehand.model.outcome import Failed
from minutehand.operations.controls import pause
from tests.console.conftest import Serve
from tests.console.examples import TURNED, run_one

PAYLOAD = {"n": 12345678901234567890, "text": TURNED, "deep": [["<b>"]]}


@pytest.fixture
def clipboard(page: Page) -> Page:
    """A page that may use the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page


def copied(page: Page, name: str) -> str:
    """Press a copy button, and return the content of the clipboard."""
    page.get_by_role("button", name=name, exact=True).click()
    # The button has this name for 1.5 seconds. This looks at every frame, `expect` once a second.
    page.get_by_role("button", name="Copied").wait_for()
    text: str = page.evaluate("navigator.clipboard.readText()")
    expect(page.get_by_role("button", name="Copied")).to_have_count(0)
    return text


def test_values_of_a_job_are_copied(clipboard: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", PAYLOAD, connection=db).id
    trace = f"Traceback:\n  line 7\t{TURNED}"
    run_one(db, Failed({"type": "Broken", "message": "no", "trace": trace}, final=True))
    clipboard.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    assert copied(clipboard, "Copy the id") == str(job)
    clipboard.get_by_role("button", name="Show traces").click()
    assert copied(clipboard, "Copy the trace") == trace
    clipboard.get_by_role("button", name="Show payload").click()
    payload = copied(clipboard, "Copy the payload")
    assert '"n": 12345678901234567890' in payload
    assert TURNED in payload


def test_next_step_is_copied_as_a_command(clipboard: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", queue="mail", connection=db).id
    pause(db, queue="mail")
    clipboard.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    assert copied(clipboard, "Copy the command") == "minutehand resume --queue mail"


def test_denied_clipboard_is_explained(page: Page, serve: Serve, db: Database) -> None:
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    page.get_by_role("button", name="Copy the command").click()

    expect(page.locator(".toast")).to_contain_text("The browser does not allow copying here.")
