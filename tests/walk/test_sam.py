"""A new project passes its tests and is built by SAM; so is an existing one to which the queue was added."""

import re
import sys
from pathlib import Path

import pytest

from tests.walk.conftest import SAM, Execute

HELLO = Path(__file__).parent.parent / "project" / "hello.yaml"
MARK = "  NewInThisVersion: {Value: yes}\n"
BUILT = Path(".aws-sam/build")


def test_new_project_passes_its_tests_and_builds(execute: Execute, minutehand: Path, tmp_path: Path) -> None:
    execute(tmp_path, minutehand, "init", "shop")
    shop = tmp_path / "shop"
    execute(shop, "make", "setup")

    assert "3 passed" in execute(shop, "make", "test")
    execute(shop, ".venv/bin/minutehand", "upgrade", "--check")

    # A new version of the package: its template has one more output.
    (template,) = shop.glob(".venv/lib/python*/site-packages/minutehand/stack/template.yaml")
    template.write_text(template.read_text("utf-8") + MARK, "utf-8")
    execute(shop, SAM, "validate", "--lint")
    execute(shop, SAM, "build")

    assert "NewInThisVersion" in (shop / BUILT / "Queue" / "template.yaml").read_text("utf-8")
    for part in ("Handlers/python/shop/jobs.py", "Handlers/python/fastapi", "Api/shop/api.py"):
        assert (shop / BUILT / part).exists()
    assert not (shop / BUILT / "Handlers" / "python" / "minutehand").exists()
    assert (
        shop / BUILT / "Queue" / "LibraryLayer" / "python" / "minutehand" / "functions" / "worker.py"
    ).exists()


def test_new_django_project_passes_its_tests_and_builds(
    execute: Execute, minutehand: Path, tmp_path: Path
) -> None:
    execute(tmp_path, minutehand, "init", "shop", "--django")
    shop = tmp_path / "shop"
    execute(shop, "make", "setup")

    assert "3 passed" in execute(shop, "make", "test")
    execute(shop, SAM, "validate", "--lint")
    execute(shop, SAM, "build")

    for part in (
        "Handlers/python/django",
        "Handlers/python/shop/migrations/0001_initial.py",
        "Api/shop/settings.py",
    ):
        assert (shop / BUILT / part).exists()


@pytest.fixture
def hello(execute: Execute, tmp_path: Path) -> Path:
    """The application that `sam init` creates, or one like it if its templates cannot be downloaded."""
    runtime = f"python{sys.version_info.major}.{sys.version_info.minor}"
    command = ["init", "--name", "hello", "--runtime", runtime, "--dependency-manager", "pip"]
    options = ["--no-tracing", "--no-application-insights", "--no-structured-logging"]
    try:
        execute(tmp_path, SAM, *command, *options, "--app-template", "hello-world")
    except AssertionError:
        code = tmp_path / "hello" / "hello_world"
        code.mkdir(parents=True, exist_ok=True)
        (code / "app.py").write_text("def lambda_handler(event, context):\n    return {}\n")
        (code / "requirements.txt").touch()
        text = HELLO.read_text("utf-8")
        (tmp_path / "hello" / "template.yaml").write_text(re.sub(r"python3\.\d+", runtime, text), "utf-8")
    return tmp_path / "hello"


def test_queue_is_added_to_the_application_of_sam_init(
    execute: Execute, minutehand: Path, hello: Path
) -> None:
    execute(hello, minutehand, "init", "--into", ".")

    execute(hello, SAM, "validate", "--lint")
    execute(hello, SAM, "build")

    for part in (
        "MinutehandHandlers/python/jobs/__init__.py",
        "MinutehandQueue/template.yaml",
        "HelloWorldFunction/app.py",
    ):
        assert (hello / BUILT / part).exists()
