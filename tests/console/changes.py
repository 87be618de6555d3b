"""Every change that the console offers: its page, the steps to it, and what the database must contain afterwards."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from playwright.sync_api import Locator, Page

from minutehand import Database, schedules
from minutehand.operations.controls import list_controls, list_holds
from minutehand.queries.jobs import list_jobs

DAY = timedelta(days=1)
# More than a page.
MANY = 51
Step = Callable[[Page], None]
Check = Callable[[Database], bool]


@dataclass(frozen=True)
class Change:
    """A change: a page, with {queue} for the id of that queue's newest job, the steps, the last of which makes it."""

    path: str
    steps: tuple[Step, ...]
    made: Check


@dataclass(frozen=True)
class Verb:
    """A change of jobs: the state before, the number of jobs by state after a change of `n`, and what is entered."""

    title: str
    before: str
    after: Callable[[int], dict[str, int]]
    entered: dict[str, str]


# By the names in pages/job/verbs.js.
VERBS = {
    "retry": Verb("Retry", "dead", lambda n: {"due": n}, {}),
    "promote": Verb("Run now", "scheduled", lambda n: {"due": n}, {}),
    "reschedule": Verb("Reschedule", "scheduled", lambda n: {"scheduled": n}, {"or in": "PT5H"}),
    "replay": Verb("Replay", "dead", lambda n: {"dead": n, "due": n}, {}),
    "cancel": Verb("Cancel", "scheduled", lambda n: {"cancelled": n}, {"Reason": "a wrong text"}),
}


def click(name: str, row: str | None = None, table: str | None = None) -> Step:
    """Press a button of the page, or of a row of a table."""

    def press(page: Page) -> None:
        inside: Page | Locator = page.get_by_role("table", name=table, exact=True) if table else page
        inside = inside.locator("tbody tr").filter(has_text=row) if row else inside
        inside.get_by_role("button", name=name, exact=True).click()

    return press


def confirm(name: str, **entered: str) -> Step:
    """Fill in the fields of the dialog, by their labels, and press its button."""

    def press(page: Page) -> None:
        dialog = page.get_by_role("dialog")
        for label, value in entered.items():
            dialog.get_by_label(label).fill(value)
        dialog.get_by_role("button", name=name, exact=True).click()

    return press


def select_all(page: Page) -> None:
    page.get_by_label("Select all rows of this page").check()


def states(db: Database, queue: str) -> dict[str, int]:
    return dict(Counter(row.state for row in list_jobs(db, queue=queue, limit=1000).rows))


def is_soon(db: Database, queue: str) -> bool:
    """Whether no job of a queue runs later than in a day."""
    rows = list_jobs(db, queue=queue, limit=1000).rows
    return max(row.run_at for row in rows) < datetime.now(rows[0].run_at.tzinfo) + DAY


def of_jobs(name: str, verb: Verb) -> Iterator[tuple[str, Change]]:
    """Yield the changes of one job, of selected jobs and of all that match."""
    ends = (click(verb.title), confirm(verb.title, **verb.entered))
    chosen: dict[str, tuple[int, str, tuple[Step, ...]]] = {
        "one": (1, "/jobs/{%s}", ()),
        "selected": (2, "/jobs?queue=%s", (select_all,)),
        "matching": (
            MANY,
            f"/jobs?queue=%s&state={verb.before}",
            (select_all, click("Select all that match")),
        ),
    }
    for which, (count, path, steps) in chosen.items():
        queue = f"{name}-{which}"

        def made(db: Database, queue: str = queue, count: int = count) -> bool:
            return states(db, queue) == verb.after(count) and (name != "reschedule" or is_soon(db, queue))

        yield f"{name} {which}", Change(path % queue, (*steps, *ends), made)


def is_paused(db: Database, **scope: str) -> bool:
    return any(
        each.paused and all(getattr(each, name) == value for name, value in scope.items())
        for each in list_controls(db)
    )


def has_limit(db: Database, per: str) -> bool:
    return any((each.limit or each.rate) and each.per == per for each in list_controls(db))


def has_job(db: Database, kind: str, state: str = "due") -> bool:
    return any(row.kind == kind and row.state == state for row in list_jobs(db, limit=1000).rows)


RULES = "Pauses and limits"
CHANGES: dict[str, Change] = {
    **{name: change for verb in VERBS for name, change in of_jobs(verb, VERBS[verb])},
    "cancel running": Change(
        "/jobs/{running}",
        (click("Cancel"), confirm("Cancel")),
        lambda db: list_jobs(db, queue="running").rows[0].cancelling is not None,
    ),
    "edit": Change(
        "/jobs/{edited}",
        (click("Edit"), confirm("Save", Priority="9")),
        lambda db: list_jobs(db, queue="edited").rows[0].priority == 9,
    ),
    "enqueue": Change(
        "/jobs",
        (click("Enqueue a job"), confirm("Enqueue", Kind="added")),
        lambda db: has_job(db, "added"),
    ),
    "pause a queue": Change(
        "/queues",
        (click("Pause", "edited", "Queues"), confirm("Pause", Reason="an incident")),
        lambda db: is_paused(db, queue="edited", reason="an incident"),
    ),
    "resume a queue": Change(
        "/queues", (click("Resume", "edited", "Queues"),), lambda db: not is_paused(db, queue="edited")
    ),
    "resume a kind": Change(
        "/queues", (click("Resume", "kind mail.send", RULES),), lambda db: not is_paused(db, kind="mail.send")
    ),
    "pause all": Change(
        "/queues",
        (click("Pause all jobs"), confirm("Pause")),
        lambda db: is_paused(db, queue="", kind=""),
    ),
    "resume all": Change(
        "/queues", (click("Resume", "all jobs", RULES),), lambda db: not is_paused(db, queue="", kind="")
    ),
    "remove a limit": Change(
        "/queues", (click("Remove the limit", "queue limited", RULES),), lambda db: not has_limit(db, "")
    ),
    "remove a limit per group": Change(
        "/queues", (click("Remove the limit", "each group", RULES),), lambda db: not has_limit(db, "group")
    ),
    "continue now": Change(
        "/queues",
        (click("Continue now", "shop/4", "Groups that wait after Retry-After"),),
        lambda db: list_holds(db) == [],
    ),
    "retry a cause": Change(
        "/failures",
        (click("Retry all", "failing"), confirm("Retry all")),
        lambda db: states(db, "failing") == {"due": 2},
    ),
    "retry a cause at a rate": Change(
        "/failures",
        (click("Retry all", "slowly"), confirm("Retry all", **{"Jobs per minute": "1"})),
        lambda db: states(db, "slowly") == {"due": 1, "scheduled": 1},
    ),
    "cancel a batch": Change(
        "/batches",
        (click("Cancel", "open batch"), confirm("Cancel jobs")),
        lambda db: states(db, "open-batch") == {"cancelled": 2},
    ),
    "retry a batch": Change(
        "/batches",
        (click("Retry", "failed batch"), confirm("Retry jobs")),
        lambda db: states(db, "failed-batch") == {"due": 1},
    ),
    "add a schedule": Change(
        "/schedules",
        (click("Add a schedule"), confirm("Save", Name="added", Kind="added", Every="@daily")),
        lambda db: schedules.get(db, "added").schedule.every == "@daily",
    ),
    "edit a schedule": Change(
        "/schedules?name=nightly",
        (click("Edit"), confirm("Save", Every="0 9 * * *")),
        lambda db: schedules.get(db, "nightly").schedule.every == "0 9 * * *",
    ),
    "pause a schedule": Change(
        "/schedules", (click("Pause", "nightly"),), lambda db: schedules.get(db, "nightly").paused
    ),
    "resume a schedule": Change(
        "/schedules", (click("Resume", "nightly"),), lambda db: not schedules.get(db, "nightly").paused
    ),
    "run a schedule": Change(
        "/schedules?name=nightly", (click("Run now"),), lambda db: has_job(db, "report.build")
    ),
}
