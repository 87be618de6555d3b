"""The runbook of late jobs quotes what `minutehand why` prints; and a retry storm is named."""

import re
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from minutehand.finish import finish
from minutehand.queries.why import why, why_latest
from minutehand.queries.why.evidence import MANY
from tests.queue.stage import Queue
from tests.queue.test_after_failure import DEAD
from tests.queue.test_why import (
    TICKED,
    behind,
    following,
    full,
    limited,
    silent,
    stopped,
    throttled,
    unclaimed,
    unserved,
)
from tests.queue.test_why_groups import blocked, full_group, in_order, open_breaker, rated, slowed

PAGE = Path(__file__).parents[2] / "docs" / "runbooks" / "late.md"


def storm(queue: Queue, jobs: int) -> UUID:
    """Let jobs of a kind fail, which are due again before a job of another kind."""

    def call(_: object) -> None:
        raise TimeoutError("the provider does not answer")

    for _ in range(jobs):
        queue.enqueue("sync")
    assert {each.ending for each in queue.work(call, limit=jobs, kind="sync")} == {"retrying"}
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '1 hour' where kind = 'sync'"
    )
    queue.sql(TICKED)
    waiting = queue.enqueue("mail", priority=0)
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at, visible = now() - interval '2 hours' where kind = 'mail'"
    )
    return waiting


@pytest.mark.parametrize("reason", ["behind", "unserved"])
def test_why_names_the_kind_whose_retries_delay_the_queue(queue: Queue, reason: str) -> None:
    if reason == "behind":
        queue.attempt(lambda _: None)
    waiting = storm(queue, MANY)

    answer = why_latest(queue.database)

    assert (answer.job, answer.reason) == (waiting, reason)
    assert answer.sentence.endswith(
        f"; {MANY} jobs of kind sync have failed and are tried again (TimeoutError)."
    )
    assert (
        answer.next_step
        == "minutehand ls --queue default --kind sync; to stop them: minutehand pause --kind sync"
    )
    assert answer.evidence["failing"] == "sync" and answer.evidence["failed"] == MANY


def test_why_does_not_name_a_kind_with_few_failures(queue: Queue) -> None:
    storm(queue, MANY - 1)

    assert "failed" not in why_latest(queue.database).sentence


def many(queue: Queue) -> UUID:
    return storm(queue, MANY)


def successor(queue: Queue) -> UUID:
    return queue.enqueue(after=[queue.enqueue()])


def successor_of_dead(queue: Queue) -> UUID:
    job = queue.claimed()
    waiting = queue.enqueue(after=[job.id], after_failure="wait")
    finish(job, DEAD)
    return waiting


# A job in each state that the page has a row for, in the order of the rows.
ARRANGED: tuple[Callable[[Queue], UUID], ...] = (
    *(silent, throttled, limited, full_group, blocked, open_breaker, slowed, in_order, rated),
    *(successor, successor_of_dead, full, many, behind, unserved, unclaimed, stopped, following),
)


def quotes() -> list[str]:
    """Return the quoted sentences of the page, without that of a database that is read-only."""
    table = re.findall(r"^\| (\*.*?) \| ", PAGE.read_text("utf-8"), re.MULTILINE)
    found = [quote for row in table for quote in re.findall(r"\*([^*]+)\*", row)]
    return [quote for quote in found if quote != "The database is read-only"]


def test_runbook_has_a_row_for_each_arranged_fault() -> None:
    assert len(quotes()) == len(ARRANGED)


@pytest.mark.parametrize(("quote", "arrange"), [*zip(quotes(), ARRANGED, strict=False)])
def test_runbook_quotes_the_sentence_of_a_fault(
    queue: Queue, quote: str, arrange: Callable[[Queue], UUID]
) -> None:
    queue.sql(TICKED)
    answer = why(queue.database, arrange(queue))

    pattern = ".*".join(map(re.escape, quote.split("...")))
    assert re.search(pattern, answer.sentence), answer.sentence
