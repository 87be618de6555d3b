"""The contents of the wheels and source distributions."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import minutehand
from minutehand.stack import folder
from tests.distributions.building import PROJECTS, ROOT, build

# The package and its extras, as in: pip install "./minutehand[local,testing]"
INSTALLATION = re.compile(r"pip install ['\"]?(?:\./)?(minutehand[a-z-]*)(?:\[([a-z,-]+)\])?")


def test_all_versions_are_the_same() -> None:
    library, pipeline = (tomllib.loads((path / "pyproject.toml").read_text("utf-8")) for path in PROJECTS)
    version = minutehand.__version__

    assert library["project"]["version"] == pipeline["project"]["version"] == version
    assert f"minutehand[cli]=={version}" in pipeline["project"]["dependencies"]


@pytest.mark.parametrize("project", PROJECTS, ids=["library", "pipeline"])
@pytest.mark.programs
def test_wheel_from_the_source_distribution_is_the_same(project: Path, tmp_path: Path) -> None:
    (tmp_path / "direct").mkdir()
    direct = build(project, tmp_path / "direct")
    source = build(project, tmp_path, "sdist")
    # Not with tarfile: its filters are new in Python 3.11.4, and without one it warns.
    subprocess.run(["tar", "-xzf", source, "-C", tmp_path], check=True)
    unpacked = tmp_path / source.name.removesuffix(".tar.gz")

    assert build(unpacked, tmp_path).read_bytes() == direct.read_bytes()


@pytest.mark.programs
def test_wheel_contains_every_tracked_file_of_the_stack(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "template.yaml", "functions", "layers"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert {f"minutehand/stack/{name}" for name in listed} - names == set()
    assert not [name for name in names if name.startswith("minutehand_pipeline/") or "__pycache__" in name]


def test_stack_of_a_checkout_is_the_repository() -> None:
    assert folder() == ROOT


@pytest.mark.programs
def test_stack_of_an_installed_wheel_is_in_the_package(site: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(site)!r}); from minutehand.stack import folder; print(folder())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = Path(done.stdout.strip())

    assert found == site / "minutehand" / "stack"
    assert (found / "template.yaml").read_bytes() == (ROOT / "template.yaml").read_bytes()
    assert {path.name for path in (found / "functions").iterdir()} == {
        "api",
        "dispatcher",
        "migrate",
        "worker",
    }


def test_every_documented_installation_names_existing_extras() -> None:
    extras = {}
    for project in PROJECTS:
        metadata = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
        extras[metadata["name"]] = set(metadata["optional-dependencies"])
    files = [ROOT / "README.md", ROOT / "pipeline" / "README.md", *(ROOT / "docs").rglob("*.md")]
    files += [*(ROOT / "shared").rglob("*.py"), *(ROOT / "pipeline").rglob("*.py")]
    named = {found for path in files for found in INSTALLATION.findall(path.read_text("utf-8"))}

    assert ("minutehand", "local,testing") in named
    assert {
        (name, extra)
        for name, listed in named
        for extra in listed.split(",")
        if extra and extra not in extras[name]
    } == set()
