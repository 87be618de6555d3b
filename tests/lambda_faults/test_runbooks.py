"""Each fault of the runbooks' table, caused on the emulator: the command and the console name its cause."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsers import chromium, opened_page
from tests.console.conftest import serving
from tests.flow.stage import ROOT
from tests.lambda_faults.causes import CAUSES, Lab
from tests.servers import Servers

RUNBOOKS = ROOT / "docs" / "runbooks"
MAX_CLICKS = 3
ROW = re.compile(
    r"^\| (.+?) \| (`[\w-]+`|none) \| `(minutehand .+?)` \| (.+?) \| (\d): (.+?) \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Row:
    """A row of the published table."""

    fault: str
    command: str
    prints: str
    clicks: int
    path: str

    @property
    def pattern(self) -> str:
        """What the command prints, as a regular expression: a sentence, or a check that is not ok."""
        if check := re.match(r"`([a-z-]+)`", self.prints):
            return rf"(?:problem|warning)\s+{check[1]}\s"
        return ".*".join(map(re.escape, self.prints.strip("*").replace("(ID)", "(...)").split("...")))


ROWS = [
    Row(fault, command, prints, int(clicks), path)
    for fault, _, command, prints, clicks, path in ROW.findall((RUNBOOKS / "index.md").read_text("utf-8"))
]
# Details that a check's line has besides its name.
DETAILS = {
    "Lambda throttles the workers": "shop-worker has a reserved concurrency of 0, so it never runs",
    "the schedule was lost": "the schedule does not exist: shop-tick",
    "the disk is full": "No space left on device",
    "a transaction stays open": r"pid \d+, analytics",
    "a role lacks a privilege": "minutehand_worker lacks update on minutehand.dispatcher",
    "a clock is wrong": r"36\d\d\.\d s ahead of this machine's",
}
# What *Home* says about faults on AWS, which only the command can read.
HOME = {
    "Lambda throttles the workers": "Workers did not claim offers of queue",
    "the schedule was lost": "The dispatcher has not ticked for 1 h",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def lab(servers: Servers, tree: Path, tmp_path: Path) -> Iterator[Lab]:
    address = servers.address("direct-18")
    made = Lab(address.make(), address, tree, tmp_path)
    with made.stack:
        yield made
    address.drop(made.database)


def printed(row: Row, url: str, environment: dict[str, str]) -> str:
    """Return what the command prints, without the ends of lines."""
    words = row.command.replace("QUEUE", "default").replace("--stack minutehand", "--stack shop")
    command = [sys.executable, "-m", *words.split()]
    ended = subprocess.run(
        command,
        env={**os.environ, "COLUMNS": "80", "DATABASE_URL": url, **environment},
        cwd=Path(__file__).parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode in (0, 1), ended.stderr
    return " ".join(ended.stdout.split())


def click_to_cause(page: Page, row: Row) -> int:
    """Follow the links that the table names from Home, until the cause is visible; return the number of clicks."""
    clicks = 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        page.get_by_role(role, name=re.compile(name)).first.click()  # type: ignore[arg-type]
        clicks += 1

    for step in row.path.split(", "):
        if step in ("*Failures*", "*System*", "*Jobs*"):
            click("link", f"^{step.strip('*')}$")
        elif step == "the jobs of the late queue":
            page.locator(".attention li", has_text="Late").get_by_role("link").click()
            clicks += 1
        elif step == "the job":
            page.locator("tbody tr").first.get_by_role("link").first.click()
            clicks += 1
        else:
            assert step == "*Home* says it"
    return clicks


def expect_cause(page: Page, row: Row) -> None:
    """Expect the cause on the page: the sentence of the command, or the finding of the check."""
    if row.fault in HOME:
        expect(page.locator(".attention")).to_contain_text(HOME[row.fault])
    elif check := re.match(r"`([a-z-]+)`", row.prints):
        found = page.get_by_role("table", name="Problems and warnings").locator("tr", has_text=check[1])
        expect(found.filter(has_text=re.compile(DETAILS[row.fault]))).to_be_visible()
    elif row.path == "*Failures*":
        expect(page.locator("tbody tr", has_text="TimeoutError")).to_contain_text("sync")
    else:
        expect(page.locator(".why")).to_contain_text(re.compile(row.pattern))


def test_table_has_each_fault_that_is_caused() -> None:
    assert {row.fault for row in ROWS} == {*CAUSES}
    assert max(row.clicks for row in ROWS) <= MAX_CLICKS


@pytest.mark.programs
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.fault)
def test_command_and_console_name_the_cause(row: Row, lab: Lab, browser: Browser) -> None:
    with CAUSES[row.fault](lab) as environment:
        output = printed(row, lab.database.admin_url, environment)
        settings = {"MINUTEHAND_LOCAL": "1", **environment}
        with serving(lab.database.admin_url, settings) as url, opened_page(browser) as page:
            page.goto(f"{url}/console")
            expect(page.get_by_role("heading", level=1)).to_have_text("Home")
            clicks = click_to_cause(page, row)
            expect_cause(page, row)

    assert re.search(row.pattern, output), output
    assert re.search(DETAILS.get(row.fault, ""), output), output
    assert clicks == row.clicks
