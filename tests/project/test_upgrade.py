"""The link follows the installed stack, and `minutehand upgrade` reports what a new version changes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from minutehand.project import link
from minutehand.project.errors import ProjectError
from minutehand.project.parameters import read_parameters
from minutehand.stack import folder
from tests.project.conftest import Run
from tests.project.test_init import Loader

Edit = Callable[[dict[str, Any]], object]


def edit_lock(shop: Path, edit: Edit) -> None:
    lock = json.loads((shop / "minutehand.lock").read_text("utf-8"))
    edit(lock)
    (shop / "minutehand.lock").write_text(json.dumps(lock), "utf-8")


def test_upgrade_check_agrees_after_init(shop: Path, run: Run) -> None:
    result = run("upgrade", "--check")

    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda lock: lock.update(version="0.0.1"), ("version", "minutehand", "changed")),
        (lambda lock: lock["parameters"].pop("Chunk"), ("parameter", "Chunk", "added")),
        (lambda lock: lock["parameters"].update(Chunk="7"), ("parameter", "Chunk", "changed")),
        (lambda lock: lock["parameters"].update(Gone="7"), ("parameter", "Gone", "removed")),
        (lambda lock: lock["schema"].pop("0003 retention"), ("schema", "0003 retention", "added")),
        (lambda lock: lock["schema"].update(roles="x"), ("schema", "roles", "changed")),
        (lambda lock: lock["settings"].pop("MINUTEHAND_CHUNK"), ("setting", "MINUTEHAND_CHUNK", "added")),
        (lambda lock: lock["settings"].update(GONE=""), ("setting", "GONE", "removed")),
    ],
)
def test_upgrade_check_reports_a_change(
    shop: Path, run: Run, edit: Edit, expected: tuple[str, str, str]
) -> None:
    edit_lock(shop, edit)

    result = run("upgrade", "--check", "-o", "json")

    (change,) = map(json.loads, result.stdout.splitlines())
    assert (change["part"], change["name"], change["verb"]) == expected
    assert result.exit_code == 1


def test_upgrade_accepts_the_changes(shop: Path, run: Run) -> None:
    before = (shop / "minutehand.lock").read_text("utf-8")
    edit_lock(shop, lambda lock: lock["parameters"].update(Chunk="7"))

    result = run("upgrade")

    assert (result.exit_code, result.stdout.split()[-5:]) == (0, ["changed", "parameter", "Chunk", "7", "1"])
    assert (shop / "minutehand.lock").read_text("utf-8") == before


@pytest.mark.parametrize("text", [None, "{", "[]", '{"version": "1"}'])
def test_upgrade_check_reports_a_missing_or_broken_lock(shop: Path, run: Run, text: str | None) -> None:
    lock = shop / "minutehand.lock"
    lock.unlink() if text is None else lock.write_text(text)

    result = run("upgrade", "--check")

    assert (result.exit_code, "minutehand.lock" in result.stderr) == (2, True)


def test_upgrade_creates_a_missing_lock(shop: Path, run: Run) -> None:
    (shop / "minutehand.lock").unlink()

    assert run("upgrade").exit_code == 0
    assert run("upgrade", "--check").exit_code == 0


def test_parameters_are_those_of_a_yaml_library() -> None:
    text = (folder() / "template.yaml").read_text("utf-8")
    declared = yaml.load(text, Loader)["Parameters"]
    expected = {
        name: str(facts["Default"]) if "Default" in facts else None for name, facts in declared.items()
    }

    assert read_parameters(text) == expected


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """The stack of another installation."""
    stack = tmp_path / "site-packages" / "minutehand" / "stack"
    (stack / "layers").mkdir(parents=True)
    (stack / "functions").mkdir()
    (stack / "template.yaml").write_text("new")
    return stack


def test_link_moves_to_another_installation(shop: Path, stack: Path) -> None:
    assert link.link_stack(shop, stack) == "linked"
    assert link.link_stack(shop, stack) == ""
    assert (shop / ".minutehand" / "stack" / "template.yaml").read_text() == "new"


@pytest.mark.parametrize("command", [["link"], ["upgrade"], ["upgrade", "--check"]])
def test_command_refreshes_an_outdated_link(shop: Path, stack: Path, run: Run, command: list[str]) -> None:
    link.link_stack(shop, stack)

    run(*command)

    assert (shop / ".minutehand" / "stack").resolve() == folder()


@pytest.mark.parametrize(
    ("command", "lacking"), [("link", "minutehand.lock)"), ("upgrade", "minutehand.lock, template.yaml,")]
)
def test_command_outside_a_project_is_refused(here: Path, run: Run, command: str, lacking: str) -> None:
    refused = run(command)

    assert (refused.exit_code, [*here.iterdir()]) == (2, [])
    assert f"{here} is not a project (it has no {lacking}" in refused.output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("template.yml", "Resources: {}"),
        ("cdk.json", "{}"),
        ("pyproject.toml", '[tool.minutehand]\nhandlers = ["shop.jobs"]'),
    ],
)
def test_upgrade_accepts_any_file_of_a_project(here: Path, run: Run, name: str, text: str) -> None:
    (here / name).write_text(text)

    assert run("upgrade").exit_code == 0


def test_stack_is_copied_where_links_do_not_work(
    shop: Path, stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("links need a privilege")

    monkeypatch.setattr(Path, "symlink_to", fail)

    assert link.link_stack(shop, stack) == "copied"
    (stack / "template.yaml").write_text("newer")
    assert link.link_stack(shop, stack) == "copied"
    assert (shop / ".minutehand" / "stack" / "template.yaml").read_text() == "newer"


def test_link_does_not_replace_a_folder_of_the_team(shop: Path) -> None:
    place = shop / ".minutehand" / "stack"
    place.unlink()
    place.mkdir()

    with pytest.raises(ProjectError, match="must be a link"):
        link.link_stack(shop)
