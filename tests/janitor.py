"""End the servers of a test run once the run has ended, however it ended: its end of our standard input is closed."""

import signal
import sys
from pathlib import Path
from shutil import rmtree
from time import monotonic

import psutil

SECONDS = 10


def main(home: Path) -> None:
    """Wait for the end of the input, then end whatever works under that directory, and remove it."""
    sys.stdin.buffer.read()
    data = [path.resolve() for path in home.glob("*/data")]
    processes = [process for process in psutil.process_iter() if _works_in(process, [home, *data])]
    for process in processes:
        _end(process)
    deadline = monotonic() + SECONDS
    while processes and monotonic() < deadline:
        psutil.wait_procs(processes, 0.02)
        processes = [process for process in processes if _works_in(process, [home, *data])]
    for process in processes:
        process.kill()
    for directory in [*data, home]:
        rmtree(directory, ignore_errors=True)


def _works_in(process: psutil.Process, directories: list[Path]) -> bool:
    try:
        return any(Path(process.cwd()).is_relative_to(directory) for directory in directories)
    except psutil.Error:
        return False


def _end(process: psutil.Process) -> None:
    """Ask for an end at once; Postgres calls that SIGQUIT and still gives its shared memory back."""
    try:
        process.send_signal(signal.SIGQUIT if process.name() == "postgres" else signal.SIGTERM)
    except psutil.Error:
        return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
