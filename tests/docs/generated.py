"""Tables of pages that are generated from declarations; MINUTEHAND_UPDATE=1 writes them."""

import os
from pathlib import Path

# Read when this module is imported, because fixtures clean the environment.
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"


def check_table(page: Path, name: str, table: str) -> None:
    """Compare the part of a page between `<!-- name -->` and `<!-- end of name -->` with a table, or write it there."""
    text = page.read_text("utf-8")
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    head, _, rest = text.partition(begin)
    found, _, tail = rest.partition(end)
    if UPDATE:
        page.write_text(f"{head}{begin}{table}{end}{tail}", "utf-8")
        return

    assert found == table
