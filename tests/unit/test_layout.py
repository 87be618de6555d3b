"""The library's root is the flow, files are short, and test names fit on a line."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "shared" / "minutehand"
# A dump that pg_dump writes.
GENERATED = {LIBRARY / "schema" / "schema.sql"}


def tracked(*patterns: str) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = {ROOT / name for name in names.stdout.split("\0") if name}
    return sorted(path for path in paths - GENERATED if path.exists())


def test_root_of_the_library_has_at_most_16_modules() -> None:
    assert len([*LIBRARY.glob("*.py")]) <= 16


def test_files_have_at_most_250_lines() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in tracked("*.py", "*.sql")}

    assert {str(path): length for path, length in lengths.items() if length > 250} == {}


def test_test_names_have_at_most_70_characters() -> None:
    texts = (path.read_text("utf-8") for path in tracked("tests/*.py"))

    assert [name for text in texts for name in re.findall(r"def (test_\w+)", text) if len(name) > 70] == []
