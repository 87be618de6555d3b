"""A user's project: files in a folder, and a pytest run in a separate process."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

SECONDS = 300


@dataclass(frozen=True)
class Run:
    """The output of a pytest run, and the outcomes of its tests."""

    text: str
    code: int

    @property
    def outcomes(self) -> dict[str, int]:
        """Count the tests by outcome, such as {"passed": 2}."""
        last = self.text.strip().splitlines()[-1]
        return {
            name.rstrip("s"): int(count)
            for count, name in re.findall(r"(\d+) (passed|failed|errors?|skipped)", last)
        }


@dataclass(frozen=True)
class Project:
    """A folder with a user's conftest, handlers and tests."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, **files: str) -> "Project":
        """Write files: `handlers__welcome` is handlers/welcome.py."""
        for name, text in files.items():
            path = self.home / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        return self

    def command(self, *options: str) -> list[str]:
        """Run pytest as a user does."""
        return [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            f"--rootdir={self.home}",
            *options,
        ]

    @property
    def temporary(self) -> Path:
        """The temporary directory of the run."""
        (self.home / "tmp").mkdir(exist_ok=True)
        return self.home / "tmp"

    def everything(self) -> Mapping[str, str]:
        """The environment of the run, with a separate temporary directory."""
        ours = {"TMPDIR": str(self.temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return {**os.environ, **ours, **self.environment}

    def test(self, *options: str) -> Run:
        """Run its tests."""
        try:
            done = subprocess.run(
                self.command(*options),
                cwd=self.home,
                env=self.everything(),
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired as late:
            printed = b"".join(filter(None, (late.stdout, late.stderr))).decode(errors="replace")
            raise AssertionError(f"the tests did not end in {SECONDS} s; they printed:\n{printed}") from None
        return Run(done.stdout + done.stderr, done.returncode)

    def left(self) -> list[str]:
        """Return the files that the run left in the temporary directory."""
        return sorted(path.name for path in self.temporary.iterdir() if path.name.startswith("minutehand"))


def in_a_short_place() -> Path:
    """Make a folder that the server's user can enter, also if root runs the tests."""
    home = Path(tempfile.mkdtemp(prefix="minutehand-project-")).resolve()
    home.chmod(0o755)
    return home


HANDLERS = {
    "handlers__welcome": """
        from dataclasses import dataclass

        letters = []

        @dataclass
        class Welcome:
            email: str

        def handle(payload: Welcome):
            letters.append(payload.email)
            return {"sent": payload.email}
    """,
    "handlers__broken": """
        def handle(payload):
            raise ZeroDivisionError("the handler divides by zero")
    """,
    "handlers__daily": """
        from datetime import timedelta
        from minutehand import enqueue

        def handle(payload, job):
            enqueue("daily", {"day": payload["day"] + 1}, key="daily", delay=timedelta(days=1))
    """,
}
