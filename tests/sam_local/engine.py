"""Use a running container engine, or run a temporary one in a directory.

python -m tests.sam_local.engine    exits with 1 and the reason if no engine can run
"""

import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree, which
from time import monotonic, sleep

LOOPBACK = "127.0.0.1"
SECONDS_TO_START = 30
SECONDS_TO_STOP = 20
PLACES = {"config-file": "daemon.json", "data-root": "images", "exec-root": "run", "pidfile": "pid"}
SWITCHES = "iptables ip6tables ip-masq ip-forward"
CGROUPS = Path("/sys/fs/cgroup")
FIXED_PLACES = [Path("/etc/docker"), Path("/run/docker")]
# In mounts of its own, which end with it, and in memory: thousands of files of images need no removing.
HIDE = """
for place in "$IMAGES" /etc/docker /run/docker; do mount -t tmpfs none "$place"; done
exec "$0" "$@"
"""
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


class NoEngineError(Exception):
    """No container engine runs here, and none can be started."""


@dataclass(frozen=True)
class Engine:
    """An engine: what DOCKER_HOST must say, empty for its default, and where containers find this machine."""

    host: str
    gateway: str
    own: bool

    def docker(self, *words: str | Path, **options: object) -> str:
        """Run `docker` and return what it printed."""
        return _run("docker", *words, env=self.environment, **options)

    @property
    def environment(self) -> dict[str, str]:
        """What a program must know to find the engine."""
        return {**os.environ, **({"DOCKER_HOST": self.host} if self.host else {})}


@contextmanager
def open_engine(home: Path) -> Iterator[Engine]:
    """Use the engine that runs, or one of our own that works in `home`."""
    with ExitStack() as stack:
        try:
            engine = Engine("", _gateway({**os.environ}), own=False)
        except NoEngineError:
            engine = stack.enter_context(_own_engine(home))
        yield engine


def _missing() -> str:
    if platform.system() != "Linux" or os.geteuid() != 0:
        return "it takes root on Linux"
    absent = [program for program in ("dockerd", "docker", "ip") if not which(program, path=PATH)]
    return f"{' and '.join(absent)} must be installed (apt-get install docker.io iproute2)" if absent else ""


@contextmanager
def _own_engine(home: Path) -> Iterator[Engine]:
    """Run a daemon on a network and with mounts of its own: no rule of the firewall, no file outside of `home`."""
    if missing := _missing():
        raise NoEngineError(f"no container engine runs here, and to start one {missing}")
    with _bridge() as bridge, _hidden(), _daemon(home, bridge) as daemon:
        host = f"unix://{home}/socket"
        yield Engine(host, _until_it_answers(daemon, host, home / "dockerd.log"), own=True)


@contextmanager
def _daemon(home: Path, bridge: str) -> Iterator[subprocess.Popen[bytes]]:
    (home / "daemon.json").write_text("{}")
    (home / "images").mkdir()
    environment = {**os.environ, "PATH": PATH, "IMAGES": str(home / "images")}
    group = f"minutehand-{os.getpid()}"
    places = [f"--cgroup-parent={group}", *(f"--{name}={home / place}" for name, place in PLACES.items())]
    switches = [f"--{name}=false" for name in SWITCHES.split()]
    hidden = ["unshare", "--mount", "sh", "-ec", HIDE]
    command = [*hidden, "dockerd", f"--host=unix://{home}/socket", f"--bridge={bridge}", *places, *switches]
    with (home / "dockerd.log").open("w") as log:
        daemon = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield daemon
    finally:
        _stop(daemon)
        for place in [*CGROUPS.glob(group), *CGROUPS.glob(f"*/{group}")]:
            place.rmdir()


@contextmanager
def _hidden() -> Iterator[None]:
    """Have the places that a daemon insists on, for it to hide behind empty ones of its own."""
    made = [place for place in FIXED_PLACES if not place.exists()]
    for place in made:
        place.mkdir()
    try:
        yield
    finally:
        for place in made:
            place.rmdir()


@contextmanager
def _bridge() -> Iterator[str]:
    number = next(filter(_add_bridge, range(250)))
    name = f"minutehand{number}"
    try:
        _run("ip", "address", "add", f"10.213.{number}.1/24", "dev", name)
        _run("ip", "link", "set", name, "up")
        yield name
    finally:
        _run("ip", "link", "delete", name)


def _add_bridge(number: int) -> bool:
    """Add a network for containers, unless another engine of ours has that one."""
    try:
        _run("ip", "link", "add", f"minutehand{number}", "type", "bridge")
    except subprocess.CalledProcessError as error:
        if "exists" in error.stderr:
            return False
        reason = f"a network for containers cannot be made here: {error.stderr.strip()}"
        raise NoEngineError(reason) from error
    return True


def _until_it_answers(daemon: subprocess.Popen[bytes], host: str, log: Path) -> str:
    deadline = monotonic() + SECONDS_TO_START
    while True:
        try:
            return _gateway({**os.environ, "DOCKER_HOST": host})
        except NoEngineError:
            if daemon.poll() is not None or monotonic() > deadline:
                last = log.read_text().strip().splitlines()[-1:]
                raise NoEngineError(f"dockerd does not start here: {' '.join(last)}") from None
            sleep(0.1)


def _gateway(environment: dict[str, str]) -> str:
    """Return this machine's address on the engine's network; an engine in a virtual machine forwards the loopback."""
    try:
        output = _run("docker", "network", "inspect", "bridge", env=environment)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoEngineError(str(error)) from error
    address = str(json.loads(output)[0]["IPAM"]["Config"][0].get("Gateway", LOOPBACK))
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return LOOPBACK
    return address


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _run(program: str, *words: str | Path, **options: object) -> str:
    environment = {**os.environ, **options.pop("env", {}), "PATH": PATH}  # type: ignore[dict-item]
    done = subprocess.run(
        [program, *words],
        env=environment,
        check=True,
        text=True,
        capture_output=True,
        **{"stdin": subprocess.DEVNULL, "timeout": 60, **options},
    )  # type: ignore[call-overload]
    return str(done.stdout)


def main() -> None:
    """Say whether there can be an engine."""
    home = Path(tempfile.mkdtemp(prefix="minutehand-engine-"))
    try:
        with open_engine(home) as engine:
            engine.docker("info")
    except NoEngineError as error:
        sys.exit(str(error))
    finally:
        rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
