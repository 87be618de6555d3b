"""What a local run shows: a line for each thing that happens, as it happens, in a person's words."""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from rich.console import Console
from rich.text import Text

from minutehand.database import Record

LATE_MS = 5000
TOLD = ("enqueued", "done", "retried", "snoozed", "cancelled", "dead", "lost", "late", "crashed")
STYLES = {
    "enqueued": "cyan", "offered": "blue", "claimed": "yellow", "late": "magenta", "done": "green",
    "retried": "dark_orange", "dead": "bold red", "lost": "red", "crashed": "bold red", "failed": "bold red",
}  # fmt: skip


class Show:
    """Writes lines to a terminal or a file, from several threads."""

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        self._console = console
        self._lock = Lock()
        self._keys: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def enqueued(self, record: Record) -> None:
        """Tell of a new job."""
        self._keys[str(record["id"])] = record["key"] or ""
        delay = record["delay"]
        self._line(
            "enqueued",
            record["kind"],
            str(record["id"]),
            "now" if delay < 0.5 else f"for {delay:.0f} s from now",
        )

    def log(self, function: str, line: dict[str, Any]) -> None:
        """Tell what a function logged, if it is of a person's interest."""
        name = line.get("message")
        if "_aws" in line or not isinstance(name, str):
            return
        if function == "dispatcher" and name == "tick":
            if line["offered"]:
                self._line(
                    "offered",
                    "",
                    "",
                    f"{line['offered']} of {line['due']} due; {line['invoked']} workers invited",
                )
        elif "job" in line:
            self._job(name, line)
        else:
            self._line(
                name,
                function,
                "",
                str(line.get("error") or line.get("text") or line.get("exit") or line.get("reason", "")),
            )

    def _job(self, name: str, line: dict[str, Any]) -> None:
        late = line.get("lateness_ms", 0)
        if name == "claimed" and late > LATE_MS and line["attempt"] == 1:
            self._line("late", line["kind"], line["job"], f"{late / 1000:.1f} s behind its time")
        self._line(name, line["kind"], line["job"], _says(name, line))

    def summary(self) -> str:
        """Return the endings so far in one phrase."""
        told = [f"{self.counts[name]} {name}" for name in TOLD if name in self.counts]
        return ", ".join(told) or "nothing yet"

    def hint(self, port: int) -> None:
        """Say, when there is nothing left to do, what one could do."""
        with self._lock:
            self._console.print(
                f"\nall is done: {self.summary()}. Enqueue something from another terminal:\n"
                f"  {_own_name()} enqueue echo '{{\"hello\": \"world\"}}'\n"
                f"  curl -H 'content-type: application/json' -d '{{\"kind\": \"echo\"}}' http://127.0.0.1:{port}/jobs\n"
                "Ctrl-C ends everything.\n", highlight=False, soft_wrap=True,
            )  # fmt: skip

    def _line(self, name: str, kind: str, job: str, says: str) -> None:
        with self._lock:
            self.counts[name] = self.counts.get(name, 0) + 1
            text = Text(f"{datetime.now():%H:%M:%S}  ")
            text.append(f"{name:<10}", STYLES.get(name, ""))
            text.append(f"{kind:<8} {self._keys.get(job) or job[-12:]:<34} {says}")
            self._console.print(text, highlight=False, soft_wrap=True)


def _own_name() -> str:
    """Return the command as it was typed here, so that it can be typed again."""
    return sys.argv[0] if Path(sys.argv[0]).name == "minutehand" else "minutehand"


def _says(name: str, line: dict[str, Any]) -> str:
    if name == "claimed":
        return f"attempt {line['attempt']}" + (
            f", {line['lateness_ms'] / 1000:.1f} s after its moment" if line["attempt"] == 1 else ""
        )
    took = f"after {line['ran_ms']} ms" if "ran_ms" in line else ""
    error = f", {line['error_type']}" if "error_type" in line else ""
    return f"{took}{error}{_again(line)}"


def _again(line: dict[str, Any]) -> str:
    if "visible" not in line:
        return ""
    visible = datetime.fromisoformat(line["visible"])
    return f"; again in {max(0.0, (visible - datetime.now(visible.tzinfo)) / timedelta(seconds=1)):.1f} s"
