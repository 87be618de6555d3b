"""`minutehand init --into` adds the queue to an existing SAM project and keeps what is there."""

import difflib
import shutil
from pathlib import Path

import pytest
import yaml

from minutehand.project.errors import ProjectError
from minutehand.project.insert import insert_queue
from tests.project.conftest import Run
from tests.project.test_init import Loader, files

HELLO = Path(__file__).with_name("hello.yaml")
SAMCONFIG = """\
[default.build.parameters]
cached = true # for speed
[default.deploy.parameters]
capabilities = "CAPABILITY_IAM"
"""


@pytest.fixture
def hello(here: Path) -> Path:
    """An application like the one that `sam init` creates."""
    shutil.copy(HELLO, here / "template.yaml")
    (here / "hello_world").mkdir()
    (here / "hello_world" / "app.py").write_text("def lambda_handler(event, context): ...\n")
    (here / "samconfig.toml").write_text(SAMCONFIG)
    (here / ".gitignore").write_text("*.pyc")
    return here


def test_into_adds_lines_and_removes_none(hello: Path, run: Run) -> None:
    assert run("init", "--into", ".").exit_code == 0

    lines = difflib.ndiff(HELLO.read_text().splitlines(), (hello / "template.yaml").read_text().splitlines())
    assert {line[0] for line in lines} == {" ", "+"}


def test_into_adds_the_parameter_and_the_resources(hello: Path, run: Run) -> None:
    run("init", "--into", ".")

    before = yaml.load(HELLO.read_text(), Loader)
    after = yaml.load((hello / "template.yaml").read_text(), Loader)
    assert after["Parameters"].keys() == {"DatabaseUrlSecretArn"}
    assert after["Resources"].pop("MinutehandQueue")["Properties"]["Parameters"]["HandlerModules"] == "jobs"
    assert after["Resources"].pop("MinutehandHandlers")["Properties"]["ContentUri"] == "jobs"
    assert {**after, "Parameters": None} == {**before, "Parameters": None}


def test_into_adds_files_and_needed_settings(hello: Path, run: Run) -> None:
    result = run("init", "--into", ".")

    assert {"jobs/__init__.py", "jobs/Makefile", "jobs/requirements.txt", "minutehand.lock"} < files(hello)
    assert (hello / ".gitignore").read_text() == "*.pyc\n.minutehand/\n"
    settings = (hello / "samconfig.toml").read_text()
    assert "cached = false # for speed" in settings
    assert 'capabilities = "CAPABILITY_IAM CAPABILITY_AUTO_EXPAND"' in settings
    assert result.stderr.count("note: samconfig.toml") == 2


@pytest.mark.parametrize("settings", [None, "version = 0.1\n", 'capabilities = ["CAPABILITY_IAM"]\n'])
def test_into_names_the_capability_that_no_file_sets(hello: Path, run: Run, settings: str | None) -> None:
    (hello / "samconfig.toml").unlink()
    if settings is not None:
        (hello / "samconfig.toml").write_text(settings)

    result = run("init", "--into", ".")

    assert "--capabilities CAPABILITY_IAM CAPABILITY_AUTO_EXPAND" in result.stderr


def test_second_run_of_into_changes_nothing(hello: Path, run: Run) -> None:
    run("init", "--into", ".")
    before = {name: (hello / name).read_text() for name in files(hello)}

    result = run("init", "--into", ".")

    assert (result.exit_code, "nothing was changed" in result.stderr) == (0, True)
    assert {name: (hello / name).read_text() for name in files(hello)} == before


def test_dry_run_of_into_lists_and_changes_nothing(hello: Path, run: Run) -> None:
    before = files(hello)

    result = run("init", "--into", ".", "--dry-run")

    assert "would change  template.yaml\n" in result.stdout
    assert "would write  jobs/Makefile\n" in result.stdout
    assert (files(hello), (hello / "template.yaml").read_text()) == (before, HELLO.read_text())


def test_into_keeps_a_folder_named_jobs(hello: Path, run: Run) -> None:
    (hello / "jobs").mkdir()

    run("init", "--into", ".")

    assert [*(hello / "jobs").iterdir()] == []
    assert (hello / "minutehand_jobs" / "__init__.py").is_file()


def test_into_requires_a_template(run: Run) -> None:
    result = run("init", "--into", ".")

    assert (result.exit_code, "must contain template.yaml" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Resources: {A: {Type: B}}\n", "block style"),
        ("Parameters: {}\nResources:\n  A:\n    Type: B\n", "block style"),
        ('{"Resources": {}}\n', "must have a section Resources"),
        ("Resources:\n  MinutehandQueue:\n    Type: B\n", "must not have the resource MinutehandQueue"),
    ],
)
def test_queue_is_not_inserted_into_another_format(template: str, message: str) -> None:
    with pytest.raises(ProjectError, match=message):
        insert_queue(template, "jobs")


@pytest.mark.parametrize(
    "template",
    [
        "Resources:\r\n  A:\r\n    Type: B\r\n",
        "Resources: # all\n\n  # first\n    A:\n        Type: B\n",
        "Parameters:\n  DatabaseUrlSecretArn: {Type: String}\nResources:\n  A:\n    Type: B\n",
        "Parameters:\n    Other:\n      Type: String\nResources:\n    A:\n      Type: B",
        "Resources:\n  A:\n    Type: B\n\n# the end\nOutputs:\n  C: {Value: !Ref A}\n",
    ],
)
def test_inserted_queue_fits_the_layout(template: str) -> None:
    result = insert_queue(template, "jobs")

    loaded = yaml.load(result, Loader)
    assert loaded["Resources"].keys() == {"A", "MinutehandQueue", "MinutehandHandlers"}
    assert "DatabaseUrlSecretArn" in loaded["Parameters"]
    assert result.count("\r\n") in (0, result.count("\n"))
