"""Settings: parsing of each kind, and a declaration for every variable that the code reads."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutehand import ConfigurationError
from minutehand.settings import find_errors, is_local, read_settings, secret
from minutehand.settings.masks import mask_database_url, mask_sinks
from minutehand.settings.table import SETTINGS

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "shared" / "minutehand"
PIPELINE = ROOT / "pipeline" / "minutehand_pipeline"
# The files of new projects, with placeholders such as %%{package}.
TEMPLATES = LIBRARY / "project" / "templates"
PLACEHOLDER = re.compile(r"%%\{(\w+)\}")
NAME = re.compile(r"(?<!_)MINUTEHAND_[A-Z_]*[A-Z]\b")
FLAGS = sorted(name for name, setting in SETTINGS.items() if setting.kind.name == "flag")
# Variables of the tests of this repository. They are not settings of the product.
DEVELOPMENT = {
    "MINUTEHAND_TEST_REQUIRE",
    "MINUTEHAND_TEST_SAM",
    "MINUTEHAND_TEST_SEEDS",
    "MINUTEHAND_TEST_THOROUGH",
    "MINUTEHAND_UPDATE",
}
# Files that use the whole environment, and the reason.
WHOLE_ENVIRONMENT = {
    "aws/role.py": "reads variables of AWS",
    "aws/service.py": "reads variables of AWS",
    "cli/commands/doctor.py": "compares the environment with a function's",
    "cli/options.py": "sets DATABASE_URL for handlers and child processes",
    "cli/output.py": "reads COLUMNS, which every program does",
    "cli/work_crew.py": "passes the environment on to processes",
    "kinds/importing.py": "passes the environment on to a process",
    "local/dev.py": "passes the environment on to processes",
    "local/process.py": "passes the environment on to processes",
    "local/programs.py": "passes the environment on to processes",
    "local/reload.py": "passes the environment on to processes",
    "testing/__init__.py": "unsets variables for the length of a test run",
    "testing/serving.py": "passes the environment on to processes",
}
# The same, of the pipeline.
WHOLE_ENVIRONMENT_OF_THE_PIPELINE = {
    "cli/database.py": "sets DATABASE_URL for Spark's tasks",
    "java.py": "sets JAVA_HOME for Spark",
    "queue/location.py": "reads the variable that a run names",
    "session.py": "reads variables of Spark",
}


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("0", False), ("false", False), ("", False)]
)
@pytest.mark.parametrize("name", FLAGS)
def test_flag_accepts_1_0_true_and_false(name: str, text: str, value: bool) -> None:
    assert SETTINGS[name].read({name: text}) is value


def test_settings_are_read_from_an_environment_of_another_type() -> None:
    code = """
import os
os.environ = {**os.environ, "MINUTEHAND_LOCAL": "1"}
from minutehand.settings.table import CONCURRENCY, LOCAL
assert LOCAL.read() and CONCURRENCY.read() == CONCURRENCY.default
os.environ["MINUTEHAND_LOCAL"] = "0"
assert not LOCAL.read()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["yes", "on", "TRUE", "11", " 1"])
@pytest.mark.parametrize("name", FLAGS)
def test_flag_rejects_other_words(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SETTINGS[name].read({name: text})

    assert str(raised.value) == f"{name} must be 1, 0, true or false, got {text!r}"


@pytest.mark.parametrize(
    ("name", "maximum", "unit"),
    [
        ("MINUTEHAND_CAPACITY", 10_000, ""),
        ("MINUTEHAND_CHUNK", 1000, ""),
        ("MINUTEHAND_CONNECT_TIMEOUT", 900, " (seconds)"),
        ("MINUTEHAND_DATABASE_PORT", 65535, ""),
        ("MINUTEHAND_GRACE", 900, " (seconds)"),
        ("MINUTEHAND_OFFER_TTL", 3600, " (seconds)"),
    ],
)
def test_integer_is_limited_to_its_range(name: str, maximum: int, unit: str) -> None:
    assert [SETTINGS[name].read({name: text}) for text in ("1", str(maximum))] == [1, maximum]
    for text in ("0", str(maximum + 1), "2.5", "-1", "abc", "٣", " 1"):
        with pytest.raises(ConfigurationError) as raised:
            SETTINGS[name].read({name: text})
        assert str(raised.value) == f"{name} must be an integer from 1 to {maximum}{unit}, got {text!r}"


def test_choice_rejects_other_words() -> None:
    tls = SETTINGS["MINUTEHAND_DATABASE_TLS"]

    assert tls.read({tls.name: "verify"}) == "verify"
    with pytest.raises(ConfigurationError, match=r"^MINUTEHAND_DATABASE_TLS must be verify, got 'require'$"):
        tls.read({tls.name: "require"})
    with pytest.raises(ConfigurationError, match=r"must be minute, prompt or sleep, got 'fast'$"):
        SETTINGS["MINUTEHAND_MODE"].read({"MINUTEHAND_MODE": "fast"})


def test_list_is_split_at_commas() -> None:
    assert SETTINGS["MINUTEHAND_HTTP_ALLOW"].read({"MINUTEHAND_HTTP_ALLOW": "a, b,,"}) == ("a", "b")


def test_read_settings_reports_all_invalid_settings() -> None:
    environment = {"MINUTEHAND_CAPACITY": "many", "MINUTEHAND_REDACT_ERRORS": "yes", "MINUTEHAND_CHUNK": "5"}

    with pytest.raises(ConfigurationError, match=r"MINUTEHAND_CAPACITY.*; MINUTEHAND_REDACT_ERRORS"):
        read_settings(environment)
    assert len(find_errors(environment)) == 2


def test_undeclared_secret_cannot_be_read() -> None:
    with pytest.raises(KeyError):
        secret("MINUTEHAND_OTHER_SECRETS", {})


def test_lambda_is_never_a_local_run() -> None:
    assert is_local({"MINUTEHAND_LOCAL": "1"})
    assert not is_local({"MINUTEHAND_LOCAL": "1", "AWS_LAMBDA_FUNCTION_NAME": "api"})
    assert not is_local({})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:hunter2@db/app", "postgresql://ada:********@db/app"),
        ("postgresql://ada:hunt@r/2@db/app", "postgresql://ada:********@db/app"),
        ("postgres://ada@db/app", "postgres://ada@db/app"),
        ("postgresql://db/app?user=ada&password=hunter2", "postgresql://db/app?user=ada&password=********"),
        ("postgresql://ada:hunt@er?2@db/app", "postgresql://ada:********"),
        ("host=db password='hunt er\\'2' user=ada", "host=db password=******** user=ada"),
        ("hunter2", "********"),
    ],
)
def test_password_of_a_database_url_is_masked(url: str, shown: str) -> None:
    assert mask_database_url(url) == shown


@pytest.mark.parametrize(
    ("sinks", "shown"),
    [
        ("table,sns:arn:aws:sns:eu-west-1:1:t", "table,sns:arn:aws:sns:eu-west-1:1:t"),
        ("webhook:https://u:p@hooks.dev/hunter2?k=hunter2", "webhook:https://hooks.dev/********"),
        ("webhook:hunter2, hunter2", "********,********"),
    ],
)
def test_url_of_a_webhook_is_masked(sinks: str, shown: str) -> None:
    assert mask_sinks(sinks) == shown


def test_every_setting_has_a_description_and_a_reader() -> None:
    for setting in SETTINGS.values():
        assert setting.description.endswith("."), setting.name
        assert setting.read_by, setting.name
        assert setting.read({}) == setting.default


def test_every_mentioned_setting_is_declared() -> None:
    files = [ROOT / "template.yaml", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    files += [
        *LIBRARY.rglob("*.py"),
        *PIPELINE.rglob("*.py"),
        *(ROOT / "functions").rglob("*.py"),
        *(ROOT / "emulator").glob("*.py"),
    ]
    mentioned = {name for path in files for name in NAME.findall(path.read_text("utf-8"))}

    assert mentioned - DEVELOPMENT - {"MINUTEHAND_DATABASE"} <= SETTINGS.keys()


def test_settings_package_alone_reads_minutehand_variables() -> None:
    files = [*checked_files(), *(ROOT / "functions").rglob("*.py"), *TEMPLATES.rglob("*.py.txt")]
    reading = {
        str(path.relative_to(ROOT)): found
        for path in files
        if (found := list(environment_reads(PLACEHOLDER.sub(r"\1", path.read_text("utf-8")))))
    }

    assert {path.suffix for path in files} == {".py", ".txt"}
    assert reading == {}


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['MINUTEHAND_X']",
        "import os\nos.environ.get('DATABASE_URL')",
        "import os\nprint(os.environ)",
        "import os\nos.getenv('MINUTEHAND_X')",
        "from os import environ",
        "import os\nname = 'MINUTEHAND_X'\nos.environ.get(name)",
    ],
)
def test_environment_check_finds_reads(code: str) -> None:
    assert list(environment_reads(code))
    assert not list(environment_reads("import os\nos.environ.get('POWERTOOLS_SERVICE_NAME', 'x')"))


def test_files_that_may_read_the_environment_exist() -> None:
    assert all((LIBRARY / name).exists() for name in WHOLE_ENVIRONMENT)
    assert all((PIPELINE / name).exists() for name in WHOLE_ENVIRONMENT_OF_THE_PIPELINE)


def checked_files() -> Iterator[Path]:
    """Yield the files of the library and the pipeline that may not read settings themselves."""
    for folder, allowed in ((LIBRARY, WHOLE_ENVIRONMENT), (PIPELINE, WHOLE_ENVIRONMENT_OF_THE_PIPELINE)):
        for path in folder.rglob("*.py"):
            place = path.relative_to(folder)
            if place.parts[0] != "settings" and place.as_posix() not in allowed:
                yield path


def environment_reads(code: str) -> Iterator[str]:
    """Yield reads of the environment, except those of a constant name that is not a setting."""
    module = ast.parse(code)
    others = {id(node) for node in ast.walk(module) if isinstance(node, ast.Call) and reads_other(node)}
    allowed = {id(inner) for node in ast.walk(module) if id(node) in others for inner in ast.walk(node)}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from (alias.name for alias in node.names if alias.name in ("environ", "getenv"))
        elif (
            isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and id(node) not in allowed
        ):
            yield ast.unparse(node)


def reads_other(call: ast.Call) -> bool:
    """Whether the call is `os.environ.get("NAME")`, or `setdefault`, and NAME is not a setting."""
    name = ast.unparse(call.func)
    if name not in ("os.environ.get", "os.environ.setdefault") or not isinstance(call.args[0], ast.Constant):
        return False
    variable = str(call.args[0].value)
    return variable not in SETTINGS and not variable.startswith("MINUTEHAND_")
