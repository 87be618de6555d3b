"""Run a program in its own process group, and kill the group when standard input closes."""

import os
import signal
import subprocess
import sys


def main() -> None:
    """Print the program's process id, and wait for the end of standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, which closes standard input
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    print(program.pid, flush=True)
    sys.stdin.read()
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    program.wait()


if __name__ == "__main__":
    main()
