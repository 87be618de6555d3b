"""Run a program in a group of its own, and end all of the group when whoever started this is gone: its end of stdin."""

import os
import signal
import subprocess
import sys


def main() -> None:
    """Say the program's process id, and wait for the end of stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests, whose end is this one's
    kept = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    print(kept.pid, flush=True)
    sys.stdin.read()
    try:
        os.killpg(kept.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    kept.wait()


if __name__ == "__main__":
    main()
