"""The link from an attempt to its logs in CloudWatch."""

from datetime import timedelta
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from minutehand import Database, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.model.worker import Worker
from minutehand.queries.jobs import list_attempts
from tests.console.conftest import Serve
from tests.console.examples import MINUTE

HOST = "https://eu-central-1.console.aws.amazon.com/cloudwatch/home?region=eu-central-1#"
# Before and after an attempt: lines of the invocation that it is a part of.
AROUND = timedelta(minutes=5)
REGION = """async () => {
    const main = document.querySelector("script[type=module]").src;
    const { caller } = await import(new URL("role.js", main));
    caller.set({ ...caller.get(), region: "eu-central-1" });
}"""


def decoded(link: str) -> str:
    """Decode the fragment of a link as CloudWatch does: $ stands for the first %, and * for the second."""
    fragment = link.removeprefix(HOST)
    assert not set(fragment) & set(' "%&+<>')
    return unquote(unquote(fragment.replace("$", "%")).replace("*", "%"))


@pytest.mark.parametrize("request_id", ["8f5a1c9e-0b1d-4c55-9b5e-0c8a6f8b7d11", "r'1~(*$%"])
def test_attempt_leads_to_the_log_lines_of_its_request(
    page: Page, serve: Serve, db: Database, request_id: str
) -> None:
    job = enqueue("mail.send", connection=db).id
    (claimed,) = take(db, "default", 1, MINUTE, MINUTE, worker=Worker("shop-worker", request=request_id))
    finish(claimed, Done())
    (attempt,) = list_attempts(db, job)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    link = page.get_by_role("link", name="Logs in CloudWatch")
    expect(page.locator(".attempts")).to_contain_text(f"request {request_id}")
    expect(link).to_have_count(0)
    page.evaluate(REGION)
    page.keyboard.press("r")

    found = decoded(link.get_attribute("href") or "")
    assert found.startswith("logsV2:logs-insights?queryDetail=~(")
    assert found.endswith("~source~(~'/aws/lambda/shop-worker))")
    assert f'@requestId = "{request_id}"' in found
    window = {"start": attempt.started - AROUND, "end": attempt.ended + AROUND}
    for name, moment in window.items():
        assert f"{name}~'{moment.strftime('%Y-%m-%dT%H:%M:%S')}.{moment.microsecond // 1000:03d}Z~" in found
    assert "~timeType~'ABSOLUTE~tz~'UTC~" in found
    # As in a local run, whose log is on this machine.
    page.evaluate(REGION.replace("eu-central-1", "local"))
    page.keyboard.press("r")
    expect(link).to_have_count(0)
