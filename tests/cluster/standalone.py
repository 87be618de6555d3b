"""A standalone cluster on the loopback interface: a master and one-core workers, from the installed Spark."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyspark

from tests.cluster.programs import SECONDS, Program, each, fetched, free_port, until

HERE = Path(__file__).parent
SPARK = Path(pyspark.__file__).parent
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
# The Python of an archive.
UNPACKED = "./environment/bin/python"
# Settings that EMR Serverless and Glue choose themselves, small enough for this machine.
CONF = {
    "spark.driver.memory": "768m",
    "spark.executor.memory": "768m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.log.level": "ERROR",
}


@dataclass
class Cluster:
    """The cluster. The executors inherit `environment`."""

    home: Path
    environment: Mapping[str, str]
    size: int = 2  # workers
    port: int = 0
    ui: int = 0  # of the master
    master: Program | None = None
    workers: list[Program] = field(default_factory=list)

    def start(self) -> None:
        """Start the master and the workers."""
        self.port, self.ui = free_port(), free_port()
        self.master = self._run(
            MASTER, "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(self.ui)
        )
        until(lambda: fetched(f"http://127.0.0.1:{self.ui}/json/"))
        self.complete()

    def complete(self) -> None:
        """Start workers until all of them live."""
        for worker in [worker for worker in self.workers if not worker.lives()]:
            worker.end()  # its keeper, that is
            self.workers.remove(worker)
        while len(self.workers) < self.size:
            where = self.home / f"worker-{free_port()}"
            self.workers.append(
                self._run(
                    WORKER,
                    "--host",
                    "127.0.0.1",
                    "--port",
                    "0",
                    "--webui-port",
                    str(free_port()),
                    "--cores",
                    "1",
                    "--memory",
                    "1g",
                    "--work-dir",
                    str(where),
                    self.url,
                )
            )
        until(lambda: len(self.alive()) == self.size)

    @property
    def url(self) -> str:
        """The value for `--master`."""
        return f"spark://127.0.0.1:{self.port}"

    def alive(self) -> list[Any]:
        """The workers that the master considers alive."""
        seen = fetched(f"http://127.0.0.1:{self.ui}/json/") or {"workers": []}
        return [worker for worker in seen["workers"] if worker["state"] == "ALIVE"]

    def stop(self) -> None:
        """Stop all programs."""
        for program in [*self.workers, *([self.master] if self.master else [])]:
            program.end()

    def submit(
        self, *words: str, main: Path, cwd: Path, archive: Path | None = None, python: str = UNPACKED
    ) -> "Submitted":
        """Run `spark-submit` as documented, in the folder with the unpacked archive, or with another Python."""
        ui = free_port()
        log = self.home / f"events-{ui}"
        log.mkdir()
        conf = {**CONF, "spark.ui.port": str(ui), "spark.eventLog.dir": log.as_uri()}
        command = [
            str(SPARK / "bin" / "spark-submit"),
            "--master",
            self.url,
            *(("--archives", f"{archive}#environment") if archive else ()),
            *(word for name, value in conf.items() for word in ("--conf", f"{name}={value}")),
            str(main),
            *words,
        ]
        program = subprocess.Popen(
            command,
            env={**self.environment, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python},
            cwd=cwd,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return Submitted(program, ui, log)

    def _run(self, *words: str) -> Program:
        command = [sys.executable, str(HERE / "keeper.py"), str(SPARK / "bin" / "spark-class"), *words]
        with (self.home / "daemons.log").open("a") as log:
            keeper = subprocess.Popen(
                command,
                env=dict(self.environment),
                cwd=self.home,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert keeper.stdout
        return Program(keeper, int(keeper.stdout.readline()))


@dataclass
class Submitted:
    """A running job."""

    program: "subprocess.Popen[str]"
    ui: int
    log: Path

    def lose_a_worker(self, cluster: Cluster) -> None:
        """Wait until a task runs on a worker, and kill that worker, its executor and the task's Python together.

        They are paused and checked again first, because a finished task would not be lost.
        """
        while True:
            executor = self.until(self._busy)
            worker = next(w for w in cluster.workers if _runs(w, executor))
            family = worker.family()
            each(family, psutil.Process.suspend)
            if executor == self._busy(executor):
                break
            each(family, psutil.Process.resume)
        each([*family, *worker.family()], psutil.Process.kill)

    def until(self, happened: Callable[[], Any]) -> Any:
        """Poll until a condition holds; fail if the job ends before."""
        return until(happened, lambda: self.program.poll() is None or self._ended())

    def result(self, seconds: float = SECONDS) -> tuple[str, str]:
        """Wait for the job to end; return its output."""
        out, err = self.program.communicate(timeout=seconds)
        assert self.program.returncode == 0, f"{out}\n{err[-4000:]}"
        return out, err

    def end(self) -> None:
        """End it, if it has not ended."""
        if self.program.poll() is None:
            each(psutil.Process(self.program.pid).children(recursive=True), psutil.Process.kill)
            self.program.kill()
            self.program.communicate()

    def lost_tasks(self) -> int:
        """Count the tasks that were lost with their executor, from Spark's event log."""
        (file,) = [path for path in self.log.iterdir() if not path.name.startswith(".")]
        events = map(json.loads, file.read_text("utf-8").splitlines())
        ends = (event for event in events if event["Event"] == "SparkListenerTaskEnd")
        return sum(end["Task End Reason"]["Reason"] == "ExecutorLostFailure" for end in ends)

    def _busy(self, only: str | None = None) -> str | None:
        """The id of an executor that runs a task."""
        base = f"http://127.0.0.1:{self.ui}/api/v1/applications"
        for application in fetched(base) or []:
            for executor in fetched(f"{base}/{application['id']}/executors") or []:
                name = str(executor["id"])
                if executor["activeTasks"] and name != "driver" and only in (None, name):
                    return name
        return None

    def _ended(self) -> bool:
        raise AssertionError(f"the job ended before: {self.program.communicate()}")


def _runs(worker: Program, executor: str) -> bool:
    for process in worker.family():
        with suppress(psutil.NoSuchProcess):
            words = process.cmdline()
            if "--executor-id" in words and words[words.index("--executor-id") + 1] == executor:
                return True
    return False
