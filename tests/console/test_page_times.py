"""Every page, and every change to all that match, answers with a million jobs.

The tests print how long the API takes for the requests, and do not judge it. `make test/plans` bounds what each
statement reads.
"""

import json
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, LiteralString
from urllib.parse import urlencode
from urllib.request import Request as Posted
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page

from minutehand.database import connect
from tests import servers
from tests.console.conftest import serving
from tests.console.million import TRIES, time_of
from tests.thorough import THOROUGH

PAGES = (
    "",
    "?window=7d",
    "/jobs",
    "/jobs?state=dead&kind=kind_0",
    "/jobs?kind=none&queue=queue-7",
    "/jobs?state=dead&version=none",
    "/jobs?key_prefix=key/77",
    "/jobs?payload=customer=4&state=done",
    "/queues",
    "/failures?window=24h",
    "/failures?window=7d",
    "/schedules",
    "/schedules?name=schedule+7",
    "/batches",
    "/audit",
    "/system",
)
# The changes to all that match, each with a filter that many jobs match.
CHANGES: dict[str, dict[str, Any]] = {
    "retry": {"state": ["dead"]},
    "replay": {"state": ["done"], "kind": "kind_7"},
    "reschedule": {"state": ["scheduled"], "queue": "queue-3"},
    "promote": {"state": ["scheduled"], "queue": "queue-4"},
    "cancel": {"state": ["scheduled"]},
}

# Pages far from the first one, by their cursors: places in the order of ids, from the newest on.
DEEP: dict[str, tuple[LiteralString, int]] = {
    "/jobs?before=%s": ("jobs", 500_000),
    "/jobs?before=%s&state=done": ("jobs", 500_001),
    "/jobs?after=%s": ("jobs", 900_000),
    "/jobs?state=dead&before=%s": ("jobs", 700_000),
    "/jobs?queue=queue-7&state=done&before=%s": ("jobs", 800_000),
    "/batches?before=%s": ("batches", 10_000),
    "/batches?before=%s&": ("batches", 19_980),
    "/audit?before=%s": ("audit", 50_000),
    "/audit?before=%s&actor=ada": ("audit", 90_000),
    "/audit?before=%s&": ("audit", 99_980),
}
LAST = (
    "/jobs?page=last",
    "/jobs?page=last&state=done",
    "/jobs?page=last&kind=kind_0",
    "/schedules?after=schedule+90",
)

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not THOROUGH, reason="fills a million rows")]


def test_pages_answer_with_a_million_jobs(page: Page, full: servers.Database) -> None:
    with serving(full.url, {"MINUTEHAND_LOCAL": "1"}) as url:
        paths = (*PAGES, first_minute(), f"/jobs/{dead_job(full)}", *LAST, *deep(full))
        times = {path: time_of(page, f"{url}/console", path) for path in paths}

    print(*(f"{milliseconds:6.0f} ms  /console{path}" for path, milliseconds in times.items()), sep="\n")


def test_changes_answer_with_a_million_jobs(full: servers.Database) -> None:
    with serving(full.url, {"MINUTEHAND_LOCAL": "1"}) as url:
        times = {verb: min(change(url, verb, dry_run=True) for _ in range(TRIES)) for verb in CHANGES}
        changed = {verb: change(url, verb, dry_run=False) for verb in CHANGES}

    print(*(f"{times[verb]:6.0f} ms {changed[verb]:6.0f} ms for 1000  {verb}" for verb in CHANGES), sep="\n")


def change(url: str, verb: str, *, dry_run: bool) -> float:
    """Return the milliseconds of a change to up to a thousand jobs that match, or of its dry run."""
    options = {"delay": "PT1H"} if verb == "reschedule" else {}
    body = {"verb": verb, "filter": CHANGES[verb], "dry_run": dry_run, **options}
    headers = {"Content-Type": "application/json"}
    began = monotonic()
    with urlopen(Posted(f"{url}/jobs/matching", json.dumps(body).encode(), headers)) as answer:
        found = json.load(answer)
    elapsed = (monotonic() - began) * 1000
    # A dry run counts among the newest jobs, and says that there are more.
    assert (found["count"] >= 1000 or found["more"]) if dry_run else found["changed"] >= 1000
    return elapsed


def first_minute() -> str:
    """Return the page of the jobs that finished in the first minute of a day: the last ones that a search finds."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=4)
    window = {"finished_since": midnight, "finished_until": midnight + timedelta(minutes=1)}
    return "/jobs?" + urlencode({name: moment.isoformat() for name, moment in window.items()})


def dead_job(full: servers.Database) -> str:
    """Return the id of the newest dead job."""
    with connect(full.admin_url) as connection:
        found = connection.execute(
            "select id from minutehand.jobs_done where failed order by id desc limit 1"
        )
        return str(found.fetchall()[0][0])


def deep(full: servers.Database) -> list[str]:
    """Return the pages whose cursors are far from the first one."""
    with connect(full.admin_url) as connection:
        places = {
            path: connection.execute(
                f"select id from minutehand.{table} order by id desc offset {place} limit 1"  # type: ignore[arg-type]
            ).fetchall()[0][0]
            for path, (table, place) in DEEP.items()
        }
    return [path % place for path, place in places.items()]
