"""Launch: start the process of an execution environment."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Launch:
    """The parameters to start an environment of a function."""

    server: Path
    python: Path
    task: Path
    handler: str
    variables: Mapping[str, str]


def start_server(
    launch: Launch, home: Path, invoke_address: str, runtime_address: str
) -> subprocess.Popen[bytes]:
    """Start Lambda's local server, which starts the runtime with the first invocation."""
    return subprocess.Popen(
        [
            launch.server,
            "--log-level",
            "fatal",
            "--runtime-interface-emulator-address",
            invoke_address,
            "--runtime-api-address",
            runtime_address,
            launch.python,
            "-S",
            Path(__file__).with_name("bootstrap.py"),
            launch.handler,
        ],
        cwd=launch.task,
        env={**launch.variables, "HOME": str(home), "TMPDIR": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
