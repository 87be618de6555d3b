"""The table of docs/settings.md is generated from the declarations; MINUTEHAND_UPDATE=1 writes it."""

import os
from pathlib import Path

from minutehand.settings.processes import EVERYWHERE
from minutehand.settings.report import format_default
from minutehand.settings.table import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
BEGIN, END = "<!-- settings -->", "<!-- end of settings -->"
# Read when this module is imported, because fixtures clean the environment.
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"


def table() -> str:
    lines = ["| Setting | Meaning | Value | Default | Read by |", "|---|---|---|---|---|"]
    for setting in SETTINGS.values():
        readers = "all" if setting.read_by == EVERYWHERE else ", ".join(setting.read_by)
        default = f"`{default}`" if (default := format_default(setting)) else ""
        kind = f"{setting.kind.name}{', secret' if setting.is_secret else ''}"
        description = setting.description.replace("[", r"\[")  # a bracket would begin a link
        lines.append(f"| `{setting.name}` | {description} | {kind} | {default} | {readers} |")
    return "\n".join(lines)


def test_page_contains_every_declared_setting() -> None:
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(f"{BEGIN}\n")
    found, _, tail = rest.partition(f"\n{END}")
    if UPDATE:
        PAGE.write_text(f"{head}{BEGIN}\n{table()}\n{END}{tail}", "utf-8")
        return

    assert found == table()
