"""The migration guides run, and their statements migrate the pending jobs of the other queue."""

import importlib.resources
import json
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
from moto import mock_aws
from test_documents import ROOT, Reader, blocks, reader

PAGES = sorted((ROOT / "docs" / "moving").glob("*.md"))
TABLES = Path(__file__).parent / "moving"
REF = "00000000-0000-4000-8000-00000000000"
JOBS = """select queue, kind, key, tenant, payload, (run_at at time zone 'UTC')::text, priority, max_attempts, every
            from minutehand.jobs where run_at >= '2030-01-01' order by run_at, tenant"""
MOVED: dict[str, tuple[str, list[tuple[Any, ...]], int]] = {
    "docmq": (
        "docmq.jobs",
        [
            ("mail", "mail.send", REF + "1", "", {"to": "ada"}, "2030-01-01 08:00:00", 5, 6, None),
            ("mail", "mail.send", REF + "2", "", "scalar", "2030-01-02 08:00:00", 5, 4, None),
            ("mail", "mail.send", REF + "3", "", None, "2030-01-03 08:00:00", 5, 1, "0 8 * * *"),
        ],
        1,
    ),
    "pgqueue": (
        "pgqueue.queue",
        [
            (
                "billing",
                "invoice",
                "4711",
                "other",
                {"target": None, "data": [1]},
                "2030-01-01 07:00:00",
                5,
                8,
                None,
            ),
            (
                "billing",
                "invoice",
                "4711",
                "acme",
                {"target": {"to": "ada"}, "data": {"n": 4711}},
                "2030-01-01 08:00:00",
                5,
                8,
                None,
            ),
        ],
        2,
    ),
    "delayedqueue": (
        "delayed_queue",
        [
            ("billing", "invoice", "invoice/4711", "", {"invoice": 4711}, "2030-01-01 08:00:00", 5, 8, None),
            (
                "billing",
                "invoice",
                "invoice/4712",
                "",
                {"invoice": 4712},
                "2030-01-01 08:00:00.5",
                5,
                8,
                None,
            ),
        ],
        1,
    ),
    "pg-boss": (
        "pgboss.job",
        [
            ("mail", "mail", "welcome/ada", "", {"to": "ada"}, "2030-01-01 08:00:00", 5, 3, None),
            ("mail", "mail", None, "", None, "2030-01-02 08:00:00", 9, 2, None),
        ],
        2,
    ),
    "procrastinate": (
        "procrastinate_jobs",
        [
            ("default", "mail.send", "welcome/ada", "", {"to": "ada"}, "2030-01-01 08:00:00", 5, 8, None),
            ("default", "mail.send", None, "", {}, "2030-01-02 08:00:00", 0, 8, None),
        ],
        1,
    ),
}

__all__ = ["reader"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_guide_runs_and_migrates_pending_jobs(page: Path, reader: Reader) -> None:
    if page.stem in MOVED:
        prepare(page.stem, reader.url)

    reader.follow_page(page)

    if page.stem in MOVED:
        table, moved, left = MOVED[page.stem]
        with psycopg.connect(reader.url) as connection:
            assert connection.execute(JOBS).fetchall() == moved
            assert connection.execute(f"select count(*) from {table}").fetchone() == (left,)  # type: ignore[arg-type]


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

        assert known["carry_over"](sqs, url, "mail") == 25
        assert "Messages" not in sqs.receive_message(QueueUrl=url)

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
                      (queue_name, task_name, priority, queueing_lock, args, status, scheduled_at)
               values ('default', 'mail.send', 0, 'welcome/ada', '{"to": "ada"}', 'todo', '2030-01-01 08:00+00'),
                      ('default', 'mail.send', -9, null, '{}', 'todo', '2030-01-02 08:00+00'),
                      ('default', 'mail.send', 0, null, '{}', 'succeeded', null)"""
        )
