"""The table of docs/settings.md is generated from the declarations."""

from minutehand.settings.processes import EVERYWHERE
from minutehand.settings.report import format_default
from minutehand.settings.table import SETTINGS
from tests.docs.generated import check_table
from tests.docs.reading import ROOT


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
    check_table(ROOT / "docs" / "settings.md", "settings", table())
