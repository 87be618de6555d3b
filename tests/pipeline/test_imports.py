"""The queue does not import Spark, and --help does not either."""

import json

import pytest

from tests.pipeline.running import ROOT, run

HEAVY = ["adbc_driver_manager", "deltalake", "numpy", "pandas", "pyarrow", "py4j", "pyspark"]
PIPELINE = ["minutehand_pipeline"]
VERBS = ["archive", "compact", "erase", "report", "load", "simulate"]
LOADED = """
import json, sys
loaded = lambda names: sorted({name.partition(".")[0] for name in sys.modules} & set(names))
"""


def loaded_by(statement: str, names: list[str], **environment: str) -> list[str]:
    """Return which packages a new Python process has loaded after a statement."""
    program = f"{LOADED}\n{statement}\nprint('\\n' + json.dumps(loaded({names!r})))"
    done = run("-c", program, **environment)
    assert done.returncode == 0, done.stderr
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def helped(*commands: list[str]) -> str:
    """Return a statement that runs commands of the CLI with --help."""
    return f"""
from minutehand.cli import main
for command in {commands!r}:
    sys.argv = ["minutehand", *command, "--help"]
    try:
        main()
    except SystemExit as end:
        assert end.code in (0, None), end.code
"""


def test_queue_does_not_import_the_pipeline() -> None:
    assert loaded_by(f"import minutehand\n{helped([], ['ls'])}", HEAVY + PIPELINE) == []


def test_functions_do_not_import_the_pipeline() -> None:
    environment = {
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "MINUTEHAND_API_TOKENS": "a-token-of-sixteen-characters",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    statement = "\n".join(
        f"sys.path.insert(0, {str(ROOT / 'functions' / function)!r})\nimport app\ndel sys.modules['app']"
        for function in ("api", "dispatcher", "migrate", "worker")
    )

    assert loaded_by(statement, HEAVY + PIPELINE, **environment) == []


def test_help_does_not_import_spark() -> None:
    statement = helped(["pipeline"], *(["pipeline", verb] for verb in VERBS))

    assert loaded_by(statement, HEAVY) == []
    # The check detects an import.
    assert loaded_by(f"{statement}\nimport numpy", HEAVY) == ["numpy"]


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
from minutehand_pipeline.session import build_session
from minutehand_pipeline.failures import translated_errors
with translated_errors():
    {statement}
"""


@pytest.mark.parametrize(
    ("missing", "statement", "distribution"),
    [
        ("pyspark", "build_session('none')", "minutehand-pipeline[spark]"),
        ("pyarrow", "import minutehand_pipeline.queue.reading", "minutehand-pipeline"),
        ("deltalake", "import minutehand_pipeline.lake", "minutehand-pipeline"),
    ],
)
def test_missing_package_is_named_with_its_distribution(
    missing: str, statement: str, distribution: str
) -> None:
    done = run("-c", WITHOUT.format(missing=missing, statement=statement))

    assert done.stderr.splitlines()[-1].endswith(f"is not installed; run: pip install '{distribution}'")
