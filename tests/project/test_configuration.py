"""The configuration of a local run, and the files that it watches."""

from pathlib import Path

import pytest

from minutehand.local.watch import Watch
from minutehand.project.configuration import Configuration, read_configuration
from minutehand.project.errors import ProjectError


def test_new_project_is_configured(shop: Path) -> None:
    assert read_configuration(shop) == Configuration(("shop.jobs",), "shop.api:app")


def test_pyproject_takes_precedence_over_the_template(shop: Path) -> None:
    (shop / "pyproject.toml").write_text('[tool.minutehand]\nhandlers = ["shop.mail"]\n')

    assert read_configuration(shop) == Configuration(("shop.mail",), "")


def test_given_modules_take_precedence(shop: Path) -> None:
    assert read_configuration(shop, ["other"]).handlers == ("other",)


def test_schedules_and_hooks_are_read_from_the_template(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(
        "      Parameters:\n        DeclaredSchedules: shop.schedules:SCHEDULES\n        Hooks: shop.hooks,shop.audit\n"
    )

    found = read_configuration(tmp_path)

    assert (found.schedules, found.hooks) == ("shop.schedules:SCHEDULES", ("shop.hooks", "shop.audit"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DeclaredSchedules: shop.schedules", "must be a module and a name"),
        ("DeclaredSchedules: a:B,c:D", "must be a module and a name"),
        ("Hooks: shop:hooks", "Hooks must be modules"),
    ],
)
def test_invalid_parameters_of_the_template_are_rejected(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "template.yaml").write_text(f"  {line}\n")

    with pytest.raises(ProjectError, match=message):
        read_configuration(tmp_path)


def test_folder_without_files_has_no_configuration(tmp_path: Path) -> None:
    assert read_configuration(tmp_path) == Configuration()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.minutehand", "cannot be read"),
        ('[tool.minutehand]\nhandlers = "shop.jobs"', "its handlers a list"),
        ('[tool.minutehand]\nhandlers = ["shop/jobs.py"]', "must be modules such as"),
        ('[tool.minutehand]\napp = "shop.api"', "must be a module and a name"),
        ('[tool.minutehand]\nmiddleware = "shop/around.py"', "must be a module such as"),
    ],
)
def test_invalid_configuration_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(ProjectError, match=message):
        read_configuration(tmp_path)


def test_watch_notices_changed_added_and_removed_files(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("1")
    watch = Watch(tmp_path)
    assert watch.changed() == []

    (tmp_path / "a.py").write_text("22")
    (tmp_path / "b.py").unlink()
    (tmp_path / "c.py").touch()

    assert watch.changed() == ["a.py", "b.py", "c.py"]
    assert watch.changed() == []


def test_watch_skips_environments_and_hidden_folders(tmp_path: Path) -> None:
    for folder in (".minutehand", "env", "__pycache__"):
        (tmp_path / folder).mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    watch = Watch(tmp_path)

    for folder in (".minutehand", "env", "__pycache__"):
        (tmp_path / folder / "a.py").touch()

    assert watch.changed() == []
