"""Every change that the console offers is made in the browser, and none of them is without a test."""

import re
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Request, expect

from minutehand import Database
from minutehand.functions.api import console_files
from tests.console.change_jobs import enqueue_all
from tests.console.changes import CHANGES, VERBS, Change
from tests.console.conftest import Serve

PAGES = Path(console_files.__file__).parent / "console" / "pages"
# Neither previews nor dry runs.
SENDS = re.compile(r"\bpost\((?!\"/schedules/preview\"|[^\n]*dry_run: true)|\bmethod: ")
HANDLER = re.compile(r"\bon(?:Click|Submit)=\$\{")
NAME = re.compile(r"\w+(?=\})")
# The handlers of links between pages of a list change only the address.
MOVES = re.compile(r"\(\) => setQuery\(")
IMPORTS = "() => import(new URL('../pages/job/verbs.js', document.querySelector('script[type=module]').src))"


class Coverage:
    """The functions of the pages' modules that ran, from V8's precise coverage."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Profiler.enable")
        self._session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
        # By file: the name and the range of each function, and whether it ran.
        self.functions: dict[str, dict[tuple[str, int, int], bool]] = {}

    def note(self) -> None:
        """Add what ran since the last time; the next page would forget it."""
        for script in self._session.send("Profiler.takePreciseCoverage")["result"]:
            _, inside, file = script["url"].partition("/pages/")
            known = self.functions.setdefault(file, {}) if inside else {}
            for function in script["functions"]:
                (span,) = function["ranges"]
                key = (function["functionName"], span["startOffset"], span["endOffset"])
                known[key] = known.get(key, False) or span["count"] > 0

    def ran_at(self, file: str, offset: int) -> bool:
        """Whether the innermost function around an offset ran."""
        around = [key for key in self.functions.get(file, {}) if key[1] <= offset < key[2]]
        return bool(around) and self.functions[file][min(around, key=lambda key: key[2] - key[1])]

    def ran(self, file: str, name: str) -> bool:
        """Whether a function with a name ran."""
        return any(key[0] == name and ran for key, ran in self.functions.get(file, {}).items())


def is_change(request: Request) -> bool:
    """Whether a request changes something: neither a preview nor a dry run."""
    if request.method == "GET" or request.url.endswith("/preview"):
        return False
    return '"dry_run":true' not in (request.post_data or "")


def make(page: Page, change: Change) -> str | int:
    """Take the steps of a change, and return the status of the answer to the last one, or why there was none."""
    try:
        return take_steps(page, change)
    except PlaywrightError as error:
        return f"{error.message} {page.locator('main').inner_text()}"


def take_steps(page: Page, change: Change) -> int:
    for step in change.steps[:-1]:
        step(page)
    with page.expect_response(lambda response: is_change(response.request)) as answer:
        change.steps[-1](page)
    # A change of many jobs closes its dialog after the last of its requests.
    expect(page.get_by_role("dialog")).to_have_count(0)
    return answer.value.status


def unmade(coverage: Coverage) -> list[str]:
    """Return the requests that change something, and the handlers in the same files, that did not run."""
    found = []
    for path in sorted(PAGES.rglob("*.js")):
        text, file = path.read_text("utf-8"), path.relative_to(PAGES).as_posix()
        if not SENDS.search(text):
            continue
        found += [
            (file, each.start()) for each in SENDS.finditer(text) if not coverage.ran_at(file, each.start())
        ]
        for handler in HANDLER.finditer(text):
            name = NAME.match(text, handler.end())
            defined = name and re.search(rf"(const {name[0]} =|function {name[0]}\()", text)
            ran = coverage.ran(file, name[0]) if name and defined else coverage.ran_at(file, handler.end())
            if not (ran or MOVES.match(text, handler.end()) or (name and not defined)):
                found.append((file, handler.start()))
    return [f"{file}: {(PAGES / file).read_text('utf-8')[at : at + 60]}" for file, at in found]


def test_every_change_is_made_in_the_browser(page: Page, serve: Serve, db: Database) -> None:
    ids = enqueue_all(db)
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    coverage, faults = Coverage(page), {}
    for name, change in CHANGES.items():
        page.goto(url + change.path.format(**ids))
        status = make(page, change)
        if not (isinstance(status, int) and status < 300 and change.made(db)):
            faults[name] = status
        coverage.note()

    assert faults == {}
    assert unmade(coverage) == []
    # The address of the script is relative to that of the page.
    page.goto(f"{url}/jobs")
    verbs = page.evaluate(
        f"async () => (await ({IMPORTS})()).VERBS.map(({{ name, title }}) => [name, title])"
    )
    assert dict(verbs) == {name: verb.title for name, verb in VERBS.items()}
