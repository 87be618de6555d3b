"""Run `sam` in a copy of the project, with the files and settings that the project ships."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from time import monotonic, sleep
from typing import Any

from tests.sam_local.engine import Engine
from tests.sam_local.image import ARCHITECTURE, Image
from tests.sam_local.keeper import in_a_container

ROOT = Path(__file__).parents[2]
ENVIRONMENT = Path("events/local/env.json")
LAMBDA_PORT = 3001
SECONDS = 300


@dataclass(frozen=True)
class Invocation:
    """The output of `sam local invoke`: the response of the function and its log."""

    answer: Any
    log: str


@dataclass(frozen=True)
class Sam:
    """A project, and the `sam` that works in it."""

    project: Path
    program: Path
    engine: Engine
    image: Image

    def run(self, *words: str) -> str:
        """Run a command and return its output."""
        done = subprocess.run(
            [self.program, *words],
            cwd=self.project,
            env=self._environment,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"sam {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        return done.stdout + "\0" + done.stderr

    def invoke(self, function: str, *words: str) -> Invocation:
        """Invoke a function once, in a new container."""
        answer, _, log = self.run("local", "invoke", function, *words, *self._options).partition("\0")
        return Invocation(json.loads(answer or "null"), log)

    @contextmanager
    def serving(self, what: str, host: str, port: int) -> Iterator[str]:
        """Run `sam local start-api` or `start-lambda` for the length of the context."""
        log = self.project.parent / f"{what}.log"
        command: list[str | Path] = [
            self.program,
            "local",
            what,
            "--host",
            host,
            "--port",
            str(port),
            *self._options,
        ]
        with log.open("w") as output:
            server = subprocess.Popen(
                command,
                cwd=self.project,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            until(lambda: answers(host, port) or server.poll() is not None, log.read_text)
            assert server.poll() is None, log.read_text()
            yield f"http://{host}:{port}"
        finally:
            server.terminate()
            server.wait()

    @property
    def _options(self) -> list[str]:
        """Return additional options: the architecture of this machine, and the stand-in image if there is one."""
        stand_in = ["--skip-pull-image", "--invoke-image", self.image.name] if self.image.name else []
        return ["--parameter-overrides", f"Architecture={ARCHITECTURE}", *stand_in]

    @property
    def _environment(self) -> dict[str, str]:
        foreign = ("AWS_", "MINUTEHAND_", "DATABASE_URL")
        variables = {
            name: value for name, value in self.engine.environment.items() if not name.startswith(foreign)
        }
        own = {"HOME": str(self.project.parent), "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
        return {**variables, **own, "SAM_CLI_TELEMETRY": "0"}


def copy_project(place: Path, runtime: str, database: str, port: int) -> None:
    """Copy the project, and set its runtime and database."""
    copytree(
        ROOT, place, ignore=ignore_patterns(".*", "__pycache__", "tests", "bench", "docs"), symlinks=True
    )
    template = place / "template.yaml"
    text = template.read_text("utf-8")
    template.write_text(text.replace(runtime_of(text), runtime), "utf-8")
    file = place / ENVIRONMENT
    variables = json.loads(file.read_text("utf-8"))
    variables["Parameters"]["DATABASE_URL"] = in_a_container(database)
    endpoint = variables["DispatcherFunction"]["AWS_ENDPOINT_URL_LAMBDA"]
    variables["DispatcherFunction"]["AWS_ENDPOINT_URL_LAMBDA"] = endpoint.replace(str(LAMBDA_PORT), str(port))
    file.write_text(json.dumps(variables), "utf-8")


def runtime_of(template: str) -> str:
    """Return the first runtime in a template, which is that of its functions."""
    return next(line.split()[1] for line in template.splitlines() if line.strip().startswith("Runtime: "))


def until(fact: Any, why: Any) -> Any:
    """Wait until a condition holds, or fail with an explanation."""
    deadline = monotonic() + SECONDS
    while not (found := fact()):
        assert monotonic() < deadline, why()
        sleep(0.2)
    return found


def answers(host: str, port: int) -> bool:
    """Return whether a server listens there."""
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0
