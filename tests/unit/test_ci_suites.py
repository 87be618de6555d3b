"""CI selects its suites by the paths of a change."""

import re
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import SUITES

ROOT = Path(__file__).parents[2]
FOLDERS = {"shared", "functions", "layers", "pipeline", "tests"}
# The markers of the suites whose make target names the folders of their tests.
MARKERS = {
    "mutations": "fault|mutation",
    "plans": "plans",
    "servers": "every_server|every_version",
    "kill": "kill",
}


@pytest.fixture(scope="module")
def ci() -> ModuleType:
    spec = spec_from_file_location("suites", ROOT / ".ci" / "suites.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (
            "shared/minutehand/sql/claim.sql",
            {"mutations", "plans", "thorough", "programs", "console", "servers", "pipeline", "kill"},
        ),
        (
            "shared/minutehand/sql/flow/claim.sql",
            {"mutations", "plans", "thorough", "programs", "console", "servers", "pipeline", "kill"},
        ),
        ("shared/minutehand/claim.py", {"thorough", "programs", "servers", "pipeline", "kill"}),
        ("shared/minutehand/operations/jobs.py", {"programs", "console", "servers", "pipeline"}),
        ("shared/minutehand/cli/verbs.py", {"programs", "pipeline"}),
        ("shared/minutehand_command.py", {"programs", "install"}),
        ("docs/events.md", {"docs", "programs", "install"}),
        ("docs/pipeline/lake.md", {"docs", "programs", "install", "pipeline"}),
        ("README.md", {"install"}),
        ("tests/api/test_auth.py", {"thorough"}),
        ("pipeline/minutehand_pipeline/report/page.py", {"pipeline", "spark-floor", "pipeline-long"}),
        ("pipeline/requirements.lock", {"pipeline", "spark-floor", "pipeline-long", "cluster"}),
        ("shared/minutehand/stack/__init__.py", {"programs", "install", "pipeline"}),
        ("functions/worker/app.py", {"programs", "pipeline", "containers"}),
        ("template.yaml", {"mutations", "programs", "containers"}),
    ],
)
def test_path_selects_the_suites_of_its_subject(ci: ModuleType, path: str, wanted: set[str]) -> None:
    assert set(ci.suites([path])) == wanted


@pytest.mark.parametrize("path", ["Makefile", ".ci/run", "pyproject.toml", "tests/conftest.py", "new/file"])
def test_path_without_a_subject_selects_all_quick_suites(ci: ModuleType, path: str) -> None:
    assert ci.suites([path]) == ci.suites(None) == ci.UNSURE


@pytest.mark.parametrize("suite", ["console", "install", "plans", "programs"])
def test_file_with_tests_of_a_suite_selects_it(ci: ModuleType, suite: str) -> None:
    marked = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if f"mark.{suite}" in path.read_text("utf-8") and path != Path(__file__)
    ]
    marked += [f"{place}test_new.py" for place, of in SUITES.items() if of == suite and place.endswith("/")]

    assert marked
    assert [path for path in marked if suite not in ci.suites([path])] == []


def test_modules_that_the_pipeline_and_its_tests_import_select_its_suite(ci: ModuleType) -> None:
    files = [
        *(ROOT / "pipeline" / "minutehand_pipeline").rglob("*.py"),
        *(ROOT / "tests" / "pipeline").rglob("*.py"),
    ]
    imported = {
        module
        for file in files
        for module in re.findall(
            r"^\s*from ((?:tests|bench)\.[\w.]+) import", file.read_text("utf-8"), re.MULTILINE
        )
    }
    paths = {f"{module.replace('.', '/')}.py" for module in imported}
    paths = {path for path in paths if (ROOT / path).is_file()}

    assert paths
    assert {path for path in paths if "pipeline" not in ci.suites([path])} == set()


def test_suites_of_several_paths_are_in_run_order(ci: ModuleType) -> None:
    both = ci.suites(["template.yaml", "shared/minutehand/sql/claim.sql", "docs/events.md"])

    assert both == [
        "docs",
        "mutations",
        "plans",
        "thorough",
        "programs",
        "console",
        "install",
        "servers",
        "pipeline",
        "kill",
        "containers",
    ]


def test_unchanged_tree_selects_no_suite(ci: ModuleType) -> None:
    assert ci.suites([]) == []


def test_every_suite_has_a_make_target(ci: ModuleType) -> None:
    listed = subprocess.run(
        ["make", "--dry-run", *(f"test/{suite}" for suite in ci.SUITES)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )

    assert listed.returncode == 0, listed.stderr


@pytest.mark.parametrize("suite", MARKERS)
def test_target_names_the_folders_of_all_its_tests(suite: str) -> None:
    target = subprocess.run(
        ["make", "--dry-run", f"test/{suite}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    named = set(re.findall(r" (tests/\w+)", target.stdout))
    marker = re.compile(rf"mark\.({MARKERS[suite]})\b")
    marked = {
        "/".join(path.relative_to(ROOT).parts[:2])
        for path in (ROOT / "tests").rglob("*.py")
        if marker.search(path.read_text("utf-8"))
    }

    assert marked and marked <= named


def test_every_pattern_of_a_suite_matches_files(ci: ModuleType) -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = tracked.stdout.splitlines()
    later = {"shared/minutehand/schema/*", "shared/minutehand/migrations/*"}

    unused = {
        pattern
        for patterns in ci.SUITES.values()
        for pattern in patterns
        if pattern not in later and not any(ci._in(path, [pattern]) for path in paths)
    }
    assert unused == set()


def test_unknown_base_is_an_unknown_change(ci: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    assert ci.changed("no-such-commit") is None
    assert ci.changed("HEAD") is not None


def test_commit_that_has_landed_is_an_unknown_change(
    ci: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "landed")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    monkeypatch.chdir(tmp_path)

    assert ci.changed() is None
    (tmp_path / "new").touch()
    git("add", "new")
    git("commit", "--quiet", "--message", "a change")
    assert ci.changed() == ["new"]


def test_folders_that_the_core_leaves_out_belong_to_other_suites() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (folders,) = re.findall(r"^ELSEWHERE := \$\(addprefix --ignore=tests/,(.+)\)$", makefile, re.MULTILINE)

    assert {f"tests/{folder}/" for folder in folders.split()} <= SUITES.keys()
