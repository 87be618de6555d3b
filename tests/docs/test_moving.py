"""The migration guides run, and their statements migrate the pending jobs of the other queue."""

import importlib.resources
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
from moto import mock_aws
from test_documents import ROOT, Reader, blocks, page_cases, reader

PAGES = sorted((ROOT / "docs" / "moving").glob("*.md"))
TABLES = Path(__file__).parent / "moving"
REF = "00000000-0000-4000-8000-00000000000"
JOBS = """select queue, kind, key, tenant, payload, (run_at at time zone 'UTC')::text, priority, max_attempts, every
            from minutehand.jobs where run_at >= '2030-01-01' order by run_at, tenant, priority"""


def invoice(tenant: str, payload: Any, run_at: str) -> tuple[Any, ...]:
    return ("billing", "invoice", "4720", tenant, payload, run_at, 5, 8, None)


@dataclass(frozen=True)
class Move:
    """What a guide's statement is to move from a table with pending and other jobs, and its report."""

    moved: list[tuple[Any, ...]]
    report: dict[str, int]


PENDING = "left: an upcoming job has its key"
MOVES = {
    "docmq": Move(
        [
            ("mail", "mail.send", REF + "1", "", {"to": "ada"}, "2030-01-01 08:00:00", 5, 6, None),
            ("mail", "mail.send", REF + "2", "", "scalar", "2030-01-02 08:00:00", 5, 4, None),
            ("mail", "mail.send", REF + "3", "", None, "2030-01-03 08:00:00", 5, 1, "0 8 * * *"),
        ],
        # The job whose worker died is due now.
        {"moved": 4, "left: running": 1, "left: finished": 1},
    ),
    "pgqueue": Move(
        [
            invoice("other", {"target": None, "data": [1]}, "2030-01-01 07:00:00"),
            invoice("acme", {"target": {"to": "ada"}, "data": {"n": 4720}}, "2030-01-01 08:00:00"),
        ],
        {"moved": 2, "left: RUNNING": 1, "left: FAILED": 1},
    ),
    "delayedqueue": Move(
        [
            ("billing", "invoice", "invoice/1", "", {"invoice": 1}, "2030-01-01 08:00:00", 5, 8, None),
            ("billing", "invoice", "invoice/2", "", {"invoice": 2}, "2030-01-01 08:00:00.5", 5, 8, None),
        ],
        {"moved": 2, "left: running": 1, "left: another kind": 1},
    ),
    "pg-boss": Move(
        [
            ("mail", "mail", "welcome/bob", "", {"to": "first"}, "2030-01-01 08:00:00", 5, 3, None),
            ("mail", "mail", None, "", None, "2030-01-02 08:00:00", 9, 2, None),
        ],
        {"moved": 2, PENDING: 2, "left: active": 1, "left: failed": 1},
    ),
    "procrastinate": Move(
        [
            ("default", "mail.send", "welcome/bob", "", {"to": "bob"}, "2030-01-01 08:00:00", 5, 8, None),
            ("default", "mail.send", None, "", {}, "2030-01-02 08:00:00", 0, 8, None),
            ("default", "mail.send", None, "", {}, "2030-01-02 08:00:00", 5, 8, None),
        ],
        {"moved": 3, "left: succeeded": 1},
    ),
}

__all__ = ["reader"]


@pytest.mark.parametrize("page", page_cases(*PAGES), ids=lambda page: page.stem)
def test_guide_runs_and_migrates_pending_jobs(page: Path, reader: Reader) -> None:
    if page.stem in MOVES:
        prepare(page.stem, reader.url)

    reader.follow_page(page)

    if page.stem in MOVES:
        with psycopg.connect(reader.url) as connection:
            assert connection.execute(JOBS).fetchall() == MOVES[page.stem].moved


@pytest.mark.parametrize("name", MOVES)
def test_statement_reports_and_deletes_only_jobs_that_arrived(name: str, reader: Reader) -> None:
    prepare(name, reader.url)
    expected = MOVES[name].report
    left = {result: count for result, count in expected.items() if result != "moved"}

    assert run_statement(name, reader.url) == expected
    assert run_statement(name, reader.url) == left
    with psycopg.connect(reader.url) as connection:
        arrived = connection.execute("select count(*) from minutehand.jobs").fetchone()
    assert arrived == (expected["moved"],)


def run_statement(name: str, url: str) -> dict[str, int]:
    """Run a guide's statement, and return its report: the number of jobs for each result."""
    (block,) = (each for each in blocks(ROOT / "docs" / "moving" / f"{name}.md") if each.language == "sql")
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(block.text.encode())
        while cursor.description is None:
            assert cursor.nextset()
        return dict(cursor.fetchall())


def test_index_links_every_guide() -> None:
    text = (ROOT / "docs" / "moving.md").read_text("utf-8")

    assert [page.name for page in PAGES if f"(moving/{page.name})" not in text] == []


def test_sqs_snippet_moves_each_message_once(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_DEFAULT_REGION": "eu-west-1", "DATABASE_URL": reader.url}.items():
        monkeypatch.setenv(name, value)
    snippet = next(
        block for block in blocks(ROOT / "docs" / "moving" / "sqs.md") if "carry_over" in block.text
    )
    known: dict[str, Any] = {}
    exec(snippet.text, known)

    with mock_aws():
        sqs = boto3.client("sqs")
        url = sqs.create_queue(QueueName="mail")["QueueUrl"]
        for number in range(25):
            sqs.send_message(QueueUrl=url, MessageBody=json.dumps(number))

        sqs.send_message(QueueUrl=url, MessageBody="x" * 300_000)

        moved, left = known["carry_over"](sqs, url, "mail")
        assert (moved, len(left)) == (25, 1)
        assert "payload must have at most" in next(iter(left.values()))
        remaining = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        assert remaining["ApproximateNumberOfMessagesNotVisible"] == "1"

    with psycopg.connect(reader.url) as connection:
        bodies = connection.execute(
            "select payload ->> 'body' from minutehand.jobs where kind = 'mail'"
        ).fetchall()
    assert sorted(int(body) for (body,) in bodies) == list(range(25))


def prepare(name: str, url: str) -> None:
    """Create the other queue's table with jobs; Procrastinate's comes from its package."""
    with psycopg.connect(url, autocommit=True) as connection:
        if name != "procrastinate":
            connection.execute((TABLES / f"{name}.sql").read_text("utf-8").encode())
            return
        schema = importlib.resources.files("procrastinate") / "sql" / "schema.sql"
        connection.execute(schema.read_text("utf-8").encode())
        connection.execute(
            """insert into procrastinate_jobs
                      (queue_name, task_name, priority, queueing_lock, lock, args, status, scheduled_at)
               values ('default', 'mail.send', 0, 'welcome/bob', null, '{"to": "bob"}', 'todo', '2030-01-01 08:00+00'),
                      ('default', 'mail.send', -9, null, null, '{}', 'todo', '2030-01-02 08:00+00'),
                      ('default', 'mail.send', 0, null, 'customer/1', '{}', 'todo', '2030-01-02 08:00+00'),
                      ('default', 'mail.send', 0, null, null, '{}', 'succeeded', null)"""
        )
