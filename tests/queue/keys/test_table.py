"""The table of docs/keys.md is what is seen here; MINUTEHAND_UPDATE=1 writes it anew."""

import os
from pathlib import Path

from tests.queue.keys.table import BEGIN, END, MODES, STATES, seen, table
from tests.queue.stage import Queue

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"  # before a test's environment is cleaned


def test_table_on_the_page_matches_the_behaviour(queue: Queue) -> None:
    cells = {}
    for mode, said in MODES.items():
        for state in STATES:
            cells[mode, state] = seen(queue, state, said)
            forget(queue)
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    there, _, tail = rest.partition(END)
    assert tail, f"{PAGE.name} has no place for the table"
    if UPDATE:
        PAGE.write_text(f"{head}{BEGIN}\n{table(cells)}\n{END}{tail}", "utf-8")
        return

    assert there.strip().splitlines() == table(cells).splitlines()


def forget(queue: Queue) -> None:
    """Make room for the next: nothing of the last one is left."""
    for name in ("jobs", "uniques", "lanes"):
        queue.sql(f"delete from minutehand.{name}")  # type: ignore[arg-type]
