"""Long and hostile values in a terminal of 80 columns: wide, combining and bidirectional characters, and no spaces."""

from contextlib import closing
from datetime import timedelta
from operator import mul
from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.types.json import Json
from rich.cells import cell_len

from minutehand import Database, NewJob, enqueue, schedules
from minutehand.batches import open_batch
from minutehand.cli.wrapping import wrap, wrap_instructions
from minutehand.operations.controls import limit, pause
from minutehand.operations.jobs import cancel
from tests.cli.terminal import Terminal, is_command

WIDE, COMBINING, RIGHT_TO_LEFT = "報告" * 40, "e\u0301" * 80, "\u202egnp.exe\u2066" * 10
NAME = f"{WIDE}{COMBINING}{RIGHT_TO_LEFT}\x1b[2J\x07"
KIND = "k" * 50 + ".reports" * 6
QUEUE, TENANT = "q" * 100, "t" * 100
ERROR = Json({"type": "E" * 90, "message": f"{NAME} {NAME}", "trace": f"  File {NAME}\n    {NAME}"})
FAILED = "deleted = now(), failed = true, attempts = 8, error = %s, claimed = now()"
ATTEMPT = """
insert into minutehand.attempts (job, attempt, started, ended, tenant, queue, kind, outcome, error, worker, request)
select id, 1, now(), now(), tenant, queue, kind, 'dead', error, %(name)s, %(name)s
  from minutehand.jobs
 where id = %(id)s
"""
OPTIONS: dict[str, Any] = {"queue": QUEUE, "group": NAME[:200], "tenant": TENANT}


@pytest.fixture
def known(direct_database) -> dict[str, str]:
    """A database that is full of hostile values: its URL, and the ids of a due job, a dead one and a batch."""
    with closing(Database(direct_database.url)) as database:
        batch = open_batch(database, name=NAME[:200], tenant=TENANT)
        due, dead, cancelled = (
            enqueue(
                KIND,
                {"text": NAME * 5},
                connection=database,
                headers={"x": NAME},
                key=f"{n}{NAME}",
                **OPTIONS,
            ).id
            for n in range(3)
        )
        enqueue(KIND, connection=database, batch=batch, **OPTIONS)
        cancel(database, [cancelled], NAME, actor=NAME[:200])
        limit(database, 0, kind=KIND, queue=QUEUE, reason=NAME, actor=NAME[:200])
        limit(database, 9, rate=1, period=timedelta(days=1), per="group", break_after=3, reason=NAME)
        pause(database, key=f"0{NAME}", queue=QUEUE, reason=NAME, actor=NAME[:200])
        schedules.save(
            database, schedules.Schedule(NAME[:200], "0 8 * * mon", NewJob(KIND, NAME, queue=QUEUE))
        )
    with psycopg.connect(direct_database.admin_url) as connection:
        connection.execute(f"update minutehand.jobs set {FAILED} where id = %s", [ERROR, dead])  # type: ignore[arg-type]
        connection.execute(ATTEMPT, {"name": NAME[:190], "id": dead})
    return {"url": direct_database.url, "due": str(due), "dead": str(dead), "batch": str(batch)}


SHOWN = [
    "ls",
    "ls --state dead",
    "show {due}",
    "show {dead}",
    "show {due} --payload",
    "show {dead} --payload",
    "why {due}",
    f"why {QUEUE}",
    "stats",
    "queues",
    "top --once",
    "events",
    "audit",
    "controls",
    "defaults",
    "schedules ls",
    "schedules show {schedule}",
    "batches ls",
    "batches show {batch}",
    "share",
    "retention",
    "doctor",
    "cost",
]


@pytest.mark.programs
@pytest.mark.parametrize("command", SHOWN)
def test_output_with_hostile_values_fits_80_columns(known: dict[str, str], command: str) -> None:
    words = [NAME[:200] if word == "{schedule}" else word.format(**known) for word in command.split()]
    with Terminal(*words, url=known["url"], PAGER="cat") as terminal:
        lines = terminal.end()

    assert terminal.process.returncode in (0, 1), lines
    assert [line for line in lines if cell_len(line) > 80 and not is_command(line)] == []
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & {*"".join(lines)}


WORDS = st.sampled_from(["a", "word", "x" * 90, WIDE, "報", COMBINING, "e\u0301"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
# Blank, also in wide characters, as the beginnings of a trace's lines are; or the beginning of a doctor's line.
BLANK = st.builds(mul, st.sampled_from([" ", "\u3000"]), st.integers(0, 100))
INDENTS = BLANK | st.just(f"{'problem':8} {'reach-database':14} ")


@given(text=TEXTS, width=st.integers(20, 90), indent=INDENTS, following=BLANK)
@example(text=f"payload:      {WIDE} {WIDE}", width=80, indent="  ", following=" " * 14)
@example(text="^^^^", width=80, indent=" " * 99, following=" " * 99)
@example(text="x" * 500, width=80, indent=" " * 80, following=" " * 80)
def test_wrapped_text_fits_and_loses_nothing(text: str, width: int, indent: str, following: str) -> None:
    lines = wrap(text, width, indent, following)

    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join((indent + text).split())


@given(text=TEXTS, width=st.integers(20, 90))
def test_no_more_than_half_of_a_line_is_blank(text: str, width: int) -> None:
    for line in wrap(text, width, " " * 100, "\u3000" * 100):
        # And a space between words.
        assert cell_len(line) - cell_len(line.lstrip()) <= width // 2 + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("do: run the step, then: minutehand migrate", ["do: run the step, then:", "  minutehand migrate"]),
        (
            f"minutehand retry {QUEUE}, or to run it now: minutehand promote {QUEUE}",
            [f"  minutehand retry {QUEUE}", "or to run it now:", f"  minutehand promote {QUEUE}"],
        ),
        (
            "remove it: aws lambda delete-function-concurrency --function-name a; aws lambda list-layers; sam build",
            [
                "remove it:",
                "  aws lambda delete-function-concurrency --function-name a",
                "  aws lambda list-layers",
                "  sam build",
            ],
        ),
        (
            "Next: minutehand resume --key 'a, or: minutehand b; c' --group \"it's. X\".",
            ["Next:", "  minutehand resume --key 'a, or: minutehand b; c' --group \"it's. X\""],
        ),
        ("run: minutehand migrate, as the owner", ["run:", "  minutehand migrate", "as the owner"]),
        ("run: minutehand retry it's", ["run:", "  minutehand retry it's"]),
    ],
)
def test_commands_in_a_text_are_whole_lines(text: str, expected: list[str]) -> None:
    assert wrap_instructions(text, 80) == expected
    assert [line for line in wrap_instructions(text, 20) if is_command(line)] == [
        line for line in expected if is_command(line)
    ]


@pytest.mark.parametrize(
    "text", ["paused: minutehand is down; minutehand requires it", "update it: aws is down; sam is here", ""]
)
def test_sentence_that_names_a_program_is_no_command(text: str) -> None:
    assert wrap_instructions(text, 80) == [text]
