"""`minutehand init` creates a project, or says why it cannot."""

import re
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from minutehand.project.configuration import read_configuration
from minutehand.project.create import new_files, write_files
from minutehand.project.errors import ProjectError
from minutehand.project.names import TAKEN
from minutehand.project.template_json import template_json
from minutehand.stack import folder
from tests.project.conftest import Run

ROOT = Path(__file__).parents[2]
# Modules that build the wheel. Nothing that runs imports them.
BUILDING = {"editables", "hatchling", "pathspec", "tomlkit", "trove_classifiers"}
FILES = {
    ".github/workflows/ci.yml",
    ".gitignore",
    "Makefile",
    "README.md",
    "minutehand.lock",
    "pyproject.toml",
    "requirements.txt",
    "samconfig.toml",
    "shop/Makefile",
    "shop/__init__.py",
    "shop/api.py",
    "shop/jobs.py",
    "template.yaml",
    "tests/conftest.py",
    "tests/test_jobs.py",
}


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads CloudFormation's tags as their values."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: (suffix, node.value))


def files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if path.parts[0] != ".minutehand"}


def test_init_writes_and_lists_the_files(run: Run, here: Path) -> None:
    result = run("init", "shop")

    assert result.exit_code == 0
    assert files(here / "shop") == FILES
    assert {line.split()[1] for line in result.stdout.splitlines()} == {f"shop/{name}" for name in FILES}
    assert "\n  cd shop && minutehand dev " in result.stderr and "\n  pytest " in result.stderr


def test_init_names_make_setup_if_the_environment_cannot_run_the_project(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minutehand.cli.commands.init.find_spec", lambda name: None)

    assert "\n  cd shop && make setup " in run("init", "shop").stderr


def test_init_links_the_installed_stack(shop: Path) -> None:
    assert (shop / ".minutehand" / "stack").resolve() == folder()


def test_init_leaves_no_placeholder(shop: Path) -> None:
    assert [name for name in FILES if "%%" in (shop / name).read_text("utf-8")] == []


def test_template_is_short_and_asks_at_most_five_questions(shop: Path) -> None:
    text = (shop / "template.yaml").read_text("utf-8")

    assert len(text.splitlines()) <= 60
    assert len(yaml.load(text, Loader)["Parameters"]) <= 5


def test_template_sets_only_parameters_of_the_stack(shop: Path) -> None:
    template = yaml.load((shop / "template.yaml").read_text("utf-8"), Loader)
    stack = yaml.load((folder() / "template.yaml").read_text("utf-8"), Loader)

    assert template["Resources"]["Queue"]["Properties"]["Parameters"].keys() <= stack["Parameters"].keys()


def test_hyphens_of_a_name_become_underscores_of_the_package(run: Run, here: Path) -> None:
    run("init", "my-shop")

    assert (here / "my-shop" / "my_shop" / "jobs.py").is_file()
    assert "HandlerModules: my_shop.jobs\n" in (here / "my-shop" / "template.yaml").read_text("utf-8")


def test_dry_run_writes_nothing(run: Run, here: Path) -> None:
    result = run("init", "shop", "--dry-run")

    assert result.stdout.count("would write") == len(FILES)
    assert "nothing was written" in result.stderr and "Next:" not in result.stderr
    assert [*here.iterdir()] == []


@pytest.mark.parametrize(
    "name",
    ["Shop", "1shop", "a--b", "../shop", "a_b", "x" * 34, "import", "json", "tests", "handlers", "boto3"],
)
def test_init_rejects_a_name_that_is_not_usable(run: Run, here: Path, name: str) -> None:
    result = run("init", name)

    assert (result.exit_code, "the name must " in result.stderr) == (2, True)
    assert [*here.iterdir()] == []


def test_init_rejects_the_name_of_an_installed_package(run: Run, here: Path) -> None:
    message = "the name must not be hypothesis, because an installed package has it; choose another"

    assert message in run("init", "hypothesis").stderr
    assert [*here.iterdir()] == []


def test_names_of_the_packages_of_the_layers_and_extras_are_taken() -> None:
    locked = [*(ROOT / "layers").glob("*/requirements.txt"), ROOT / "requirements-run.lock"]
    pinned = {name for path in locked for name in re.findall(r"^([\w.-]+)==", path.read_text("utf-8"), re.M)}
    modules = {
        module
        for module, distributions in packages_distributions().items()
        if any(re.sub(r"[-_.]+", "-", each).lower() in pinned for each in distributions)
    }

    assert {"psycopg", "starlette", "uvicorn"} <= modules
    assert {module for module in modules - BUILDING if re.fullmatch("[a-z][a-z0-9_]*", module)} <= TAKEN


def test_init_rejects_a_folder_that_is_not_empty(run: Run, here: Path) -> None:
    (here / "shop").mkdir()
    (here / "shop" / "template.yaml").touch()

    result = run("init", "shop")

    assert (result.exit_code, "shop is not empty" in result.stderr) == (2, True)


def test_init_accepts_a_new_repository(run: Run, here: Path) -> None:
    (here / "shop" / ".git").mkdir(parents=True)

    assert run("init", "shop").exit_code == 0


def test_init_reports_a_folder_without_write_permission() -> None:
    with pytest.raises(ProjectError, match=r"^/sys/shop.* cannot be written: "):
        write_files(Path("/sys/shop"), new_files("shop"))


def test_init_reports_a_file_in_the_place_of_the_folder(run: Run, here: Path) -> None:
    (here / "shop").touch()

    assert "shop is a file" in run("init", "shop").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["shop", "--into", "."],
        ["--into", ".", "--cdk"],
        ["--into", ".", "--django"],
        ["shop", "--cdk", "--django"],
    ],
)
def test_init_rejects_contradictory_arguments(run: Run, arguments: list[str]) -> None:
    assert run("init", *arguments).exit_code == 2


def test_project_for_the_cdk_has_an_app_instead_of_a_template(run: Run, here: Path) -> None:
    assert run("init", "shop", "--cdk").exit_code == 0

    found = files(here / "shop")
    assert found == FILES - {"template.yaml", "samconfig.toml"} | {"app.py", "cdk.json"}
    assert [name for name in found if "%%" in (here / "shop" / name).read_text("utf-8")] == []


def test_project_for_django_has_its_files_and_the_middleware(run: Run, here: Path) -> None:
    assert run("init", "shop", "--django").exit_code == 0

    found = files(here / "shop")
    package = {
        "settings.py",
        "models.py",
        "views.py",
        "urls.py",
        "migrations/__init__.py",
        "migrations/0001_initial.py",
    }
    assert found == FILES | {"manage.py", *(f"shop/{name}" for name in package)}
    assert [name for name in found if "%%" in (here / "shop" / name).read_text("utf-8")] == []
    assert read_configuration(here / "shop").middleware == "minutehand.integrations.django.worker"


def test_template_in_json_has_the_long_form_of_the_functions() -> None:
    text = "A: !Ref B\nC: !GetAtt D.E.F\nG: &g !If [H, !Sub I, {J: !Condition K}]\nL: *g\n"

    condition = {"Fn::If": ["H", {"Fn::Sub": "I"}, {"J": {"Condition": "K"}}]}
    expected = {"A": {"Ref": "B"}, "C": {"Fn::GetAtt": ["D", "E.F"]}, "G": condition, "L": condition}
    assert template_json(text) == expected
