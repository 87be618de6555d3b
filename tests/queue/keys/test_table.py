"""The table of docs/keys.md matches the behavior; MINUTEHAND_UPDATE=1 writes it."""

import os
from pathlib import Path

from tests.queue.keys.table import BEGIN, END, MODES, STATES, observe, table
from tests.queue.stage import Queue

PAGE = Path(__file__).parents[3] / "docs" / "keys.md"
# Read before the environment is cleaned.
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"


def test_table_on_the_page_matches_the_behaviour(queue: Queue) -> None:
    cells = {}
    for mode, options in MODES.items():
        for state in STATES:
            cells[mode, state] = observe(queue, state, options)
            clear(queue)
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    written, _, tail = rest.partition(END)
    assert tail, f"{PAGE.name} has no place for the table"
    if UPDATE:
        PAGE.write_text(f"{head}{BEGIN}\n{table(cells)}\n{END}{tail}", "utf-8")
        return

    assert written.strip().splitlines() == table(cells).splitlines()


def clear(queue: Queue) -> None:
    """Delete the jobs and keys of the last cell."""
    for name in ("jobs", "uniques", "lanes", "lane_changes"):
        queue.sql(f"delete from minutehand.{name}")  # type: ignore[arg-type]
