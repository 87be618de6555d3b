"""The console's files: libraries are those of npm, and every file is short, served and refers to files that exist."""

import re
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from minutehand.functions.api import console_files

VENDORED = (console_files.FOLDER / "vendor", Path(__file__).parent / "vendor")
OWN = sorted(
    path
    for path in console_files.FOLDER.rglob("*.*")
    if path.suffix in (".js", ".css", ".html") and path.parent.name != "vendor"
)
LINES = 250


@pytest.mark.parametrize("folder", VENDORED, ids=["console", "tests"])
def test_vendored_files_are_those_of_npm(folder: Path) -> None:
    declared = tomllib.loads((folder / "vendored.toml").read_text(encoding="utf-8"))["file"]

    hashes = {file["name"]: file["sha256"] for file in declared}
    licenses = {name for file in declared for name in file["license"]}
    assert {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.js")} == hashes
    assert {path.name for path in folder.glob("LICENSE*")} == licenses


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_console_files_follow_their_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= LINES
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|dangerously", text)
    for name in re.findall(r'(?:from|import\()\s*"([^"]+)"', text):
        assert (path.parent / name).is_file(), name


def test_version_changes_with_each_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def version() -> str:
        console_files.files.cache_clear()
        console_files.version.cache_clear()
        return console_files.version()

    before = version()
    for name in ("app/main.js", "styles/1.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(console_files, "FOLDER", tmp_path)
    versions = [version()]
    (tmp_path / "styles/1.css").write_text("2")
    versions.append(version())
    monkeypatch.undo()

    assert len({before, *versions}) == 3
    assert version() == before
