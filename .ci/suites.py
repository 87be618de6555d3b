"""Print the suites that a change needs in addition to `make test`, one per line, by the paths that it touches.

python3 .ci/suites.py [base]    the paths that differ between `base` and HEAD

The default base is the merge base of HEAD and origin/main. The suites of UNSURE run if the change is unknown, because
there is no such commit or HEAD is on origin/main, and if a path is in no list.
"""

import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatch

LIBRARY, COMMAND = "shared/minutehand/", "shared/minutehand_command.py"
SQL = [f"{LIBRARY}{folder}/*" for folder in ("sql", "schema")]
# Modules of the library that do not depend on the server.
OUTER = [
    f"{LIBRARY}{folder}/*"
    for folder in (
        "cli",
        "doctor",
        "local",
        "project",
        "aws",
        "web",
        "functions",
        "events",
        "settings",
        "stack",
    )
]
FLOW = [
    f"{LIBRARY}{name}.py"
    for name in (
        "attempts/*",
        "claim",
        "claimed_job",
        "enqueue",
        "fan_out",
        "finish",
        "handle",
        "lease",
        "maintenance",
        "offer",
        "tick",
        "work",
    )
]
PIPELINE = "pipeline/minutehand_pipeline/"
# In the order of the runs, the fastest first.
SUITES = {
    "docs": [
        "bench/page/*",
        "docs/*",
        "mkdocs.yml",
        "requirements-docs.lock",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ],
    "mutations": [*SQL, "tests/queue/*", "template.yaml", "tests/template/*"],
    "plans": [*SQL, "tests/proof/*"],
    "thorough": [
        *SQL,
        *FLOW,
        f"{LIBRARY}model/*",
        f"{LIBRARY}database/*",
        f"{LIBRARY}functions/api/*",
        "tests/api/*",
        "tests/cli/*poison*",
        "tests/lambda_faults/*",
        "tests/proof/*",
        "tests/queue/*",
        "tests/thorough.py",
        "tests/unit/*clock*",
        "tests/unit/*recurrence*",
    ],
    "programs": [
        f"{LIBRARY}*",
        COMMAND,
        "functions/*",
        "layers/*",
        "events/*",
        "emulator/*",
        "template.yaml",
        "pipeline/template.yaml",
        "bench/*",
        "docs/*",
        "hatch_build.py",
        "tests/bench/*",
        "tests/cli/*hostile*",
        "tests/cli/terminal.py",
        "tests/distributions/*",
        "tests/docs/*",
        "tests/doctor/*",
        "tests/lambda_faults/*",
        "tests/layers/*",
        "tests/local/*",
        "tests/sleep/*",
        "tests/template/*",
        "tests/testing/*",
        "tests/*typing.py",
        "tests/unit/*embedded*",
        "tests/unit/*contracts*",
        "tests/unit/*job_options*",
    ],
    "console": [
        *SQL,
        *(f"{LIBRARY}{folder}/*" for folder in ("functions/api", "queries", "operations", "doctor", "local")),
        f"{LIBRARY}cli/commands/console.py",
        "tests/console/*",
    ],
    "install": [
        "pipeline/pyproject.toml",
        "requirements-run.lock",
        "hatch_build.py",
        COMMAND,
        f"{LIBRARY}stack/*",
        f"{LIBRARY}local/*",
        f"{LIBRARY}cli/app.py",
        "docs/*",
        "README.md",
        "tests/distributions/*",
        "tests/docs/reading.py",
    ],
    "servers": [*SQL, f"{LIBRARY}*.py", "tests/queue/*", "tests/proof/*", "tests/flow/*"],
    "pipeline": [
        "pipeline/*",
        "tests/pipeline/*",
        "requirements-pipeline.lock",
        "docs/pipeline/*",
        "docs/scaling.md",
        f"{LIBRARY}*",
        # What its tests import.
        "functions/*",
        "tests/docs/reading.py",
        "tests/queue/logins.py",
        "tests/queue/stage.py",
        "tests/lambda_faults/cost_runs.py",
        "tests/lambda_faults/stage.py",
        "bench/*",
    ],
    "spark-floor": ["pipeline/*", "tests/pipeline/*", "requirements-spark-floor.lock"],
    "kill": [
        *SQL,
        *FLOW,
        f"{LIBRARY}database/*",
        "tests/proof/*",
        f"{PIPELINE}archive*",
        f"{PIPELINE}load*",
        f"{PIPELINE}lake*",
        "tests/pipeline/archive/*",
        "tests/pipeline/load/*",
    ],
    "soak": ["emulator/*", "tests/soak/*"],
    "pipeline-long": ["pipeline/*", "tests/pipeline/*", f"{LIBRARY}offer.py", f"{LIBRARY}tick.py"],
    "cluster": ["pipeline/package.py", "pipeline/main.py", "pipeline/requirements.lock", "tests/cluster/*"],
    "project": [f"{LIBRARY}project/*", "layers/project.mk", "hatch_build.py", "tests/walk/*"],
    "containers": [
        "template.yaml",
        "samconfig.toml",
        "layers/*",
        "functions/*",
        f"{LIBRARY}functions/*",
        "events/*",
        "tests/sam_local/*",
        "tests/layers/*",
    ],
}
# Paths that `make test` covers.
ORDINARY = [
    *OUTER,
    "docs/*",
    "bench/*",
    "emulator/*",
    "*.md",
    "LICENSE",
    ".gitignore",
    ".editorconfig",
    *(
        f"tests/{folder}/*"
        for folder in (
            "api",
            "bench",
            "cli",
            "connections",
            "console",
            "distributions",
            "docs",
            "doctor",
            "emulator",
            "functions",
            "lambda_faults",
            "local",
            "project",
            "testing",
            "unit",
            "web",
        )
    ),
]
# Suites that test the flow and the SQL, which OUTER only uses.
INNER = {"servers", "kill", "plans"}
# Not all suites: these and `make test` fit into the 90 minutes of a run of CI, all of them take hours. The others run
# when their paths change, and before a release.
UNSURE = ["docs", "mutations", "plans", "programs", "console", "install", "servers", "pipeline"]


def suites(paths: Iterable[str] | None) -> list[str]:
    """Return the suites for these paths; None means that the change is unknown."""
    if paths is None:
        return UNSURE
    wanted: set[str] = set()
    for path in paths:
        wanted.update(
            suite
            for suite, patterns in SUITES.items()
            if _in(path, patterns) and not (suite in INNER and _in(path, OUTER))
        )
        if not any(_in(path, patterns) for patterns in [ORDINARY, *SUITES.values()]):
            wanted.update(UNSURE)
    return [suite for suite in SUITES if suite in wanted]


def changed(base: str | None = None) -> list[str] | None:
    """Return the paths that changed since `base`, or None if unknown."""
    base = base or _git("merge-base", "HEAD", "origin/main")
    if base is None or base == _git("rev-parse", "HEAD"):
        return None
    names = _git("diff", "--name-only", "--no-renames", base, "HEAD")
    return None if names is None else names.splitlines()


def _in(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


def _git(*words: str) -> str | None:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


if __name__ == "__main__":
    print("\n".join(suites(changed(*sys.argv[1:2]))))
