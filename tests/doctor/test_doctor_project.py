"""The doctor checks the folder of a project."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from minutehand.cli.app import cli
from minutehand.doctor.project import Project, examine_project, find_project

Break = Callable[[Path], object]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["init", "shop"]).exit_code == 0
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def verdicts(root: Path) -> dict[str, str]:
    project = find_project(root)
    assert project is not None
    return {finding.check: finding.verdict for finding in examine_project(project)}


def replace(path: Path, old: str, new: str) -> None:
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def point_elsewhere(shop: Path) -> None:
    link = shop / ".minutehand" / "stack"
    link.unlink()
    other = shop / "other"
    other.mkdir()
    (other / "template.yaml").touch()
    link.symlink_to(other)


def build_empty_layer(shop: Path) -> None:
    (shop / ".aws-sam" / "build" / "Handlers" / "python").mkdir(parents=True)


def add_function(shop: Path) -> None:
    (shop / "other").mkdir()
    (shop / "other" / "requirements.txt").touch()
    function = "  Other:\n    Type: AWS::Serverless::Function\n    Properties: \n      CodeUri: other/\n"
    replace(shop / "template.yaml", "Outputs:\n", f"{function}Outputs:\n")
    replace(shop / "template.yaml", "Runtime: python3.13", "Runtime: python3.99")


def test_new_project_has_no_problem(shop: Path) -> None:
    assert verdicts(shop) == {
        "link": "ok",
        "lock": "ok",
        "handlers": "ok",
        "layer": "skipped",
        "python": "ok",
        "requirements": "ok",
    }


@pytest.mark.parametrize(
    ("change", "check", "verdict"),
    [
        (lambda shop: (shop / ".minutehand" / "stack").unlink(), "link", "problem"),
        (point_elsewhere, "link", "problem"),
        (lambda shop: replace(shop / "minutehand.lock", '"Chunk": "1"', '"Chunk": "2"'), "lock", "warning"),
        (lambda shop: (shop / "minutehand.lock").write_text("{"), "lock", "problem"),
        (lambda shop: (shop / "shop" / "jobs.py").unlink(), "handlers", "problem"),
        (lambda shop: (shop / "shop" / "jobs.py").write_text("import nopkg"), "handlers", "problem"),
        (lambda shop: (shop / "shop" / "jobs.py").write_text(""), "handlers", "warning"),
        (
            lambda shop: replace(shop / "template.yaml", "HandlerModules: shop.jobs", ""),
            "handlers",
            "problem",
        ),
        (build_empty_layer, "layer", "problem"),
        (add_function, "python", "problem"),
        (lambda shop: (shop / "requirements.txt").write_text("psycopg[binary]\n"), "requirements", "warning"),
    ],
)
def test_fault_of_a_project_is_found(shop: Path, change: Break, check: str, verdict: str) -> None:
    change(shop)

    found = verdicts(shop)
    assert found.pop(check) == verdict
    assert {"problem", "warning"}.isdisjoint(found.values())


def test_built_layer_with_the_modules_is_ok(shop: Path) -> None:
    package = shop / ".aws-sam" / "build" / "Handlers" / "python" / "shop"
    package.mkdir(parents=True)
    (package / "jobs.py").touch()

    assert verdicts(shop)["layer"] == "ok"


def test_doctor_checks_a_project_without_a_database(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)

    result = CliRunner().invoke(cli, ["doctor", "-o", "json"])

    findings = {each["check"]: each["verdict"] for each in map(json.loads, result.stdout.splitlines())}
    assert (result.exit_code, findings["link"], findings["reachable"]) == (0, "ok", "skipped")


def test_folder_without_a_lock_is_not_a_project(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None


def test_project_for_the_cdk_has_no_template(shop: Path) -> None:
    (shop / "template.yaml").unlink()

    assert find_project(shop) == Project(shop, "")
