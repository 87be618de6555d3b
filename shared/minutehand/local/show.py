"""Show: print a line for each event of a local run."""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from rich.console import Console
from rich.text import Text

from minutehand.cli.text import span
from minutehand.database import Record

LATE_MS = 5000
COUNTED = (
    "enqueued",
    "done",
    "retried",
    "snoozed",
    "cancelled",
    "dead",
    "expired",
    "lost",
    "late",
    "crashed",
)
STYLES = {
    "enqueued": "cyan",
    "offered": "blue",
    "claimed": "yellow",
    "late": "magenta",
    "done": "green",
    "retried": "dark_orange",
    "dead": "bold red",
    "lost": "red",
    "crashed": "bold red",
    "failed": "bold red",
}


class Show:
    """Print lines to a console, from several threads."""

    def __init__(self, console: Console) -> None:
        """Print to this console."""
        self._console = console
        self._lock = Lock()
        self._keys: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def enqueued(self, record: Record) -> None:
        """Print a new job."""
        self._keys[str(record["id"])] = record["key"] or ""
        delay = record["delay"]
        self._line(
            "enqueued",
            record["kind"],
            str(record["id"]),
            "due now" if delay < 0.5 else f"due in {span(timedelta(seconds=delay))}",
        )

    def log(self, function: str, line: dict[str, Any]) -> None:
        """Print a line that a function logged, if it is relevant."""
        name = line.get("message")
        if "_aws" in line or not isinstance(name, str):
            return
        if function == "dispatcher" and name == "tick":
            if line["offered"]:
                self._line(
                    "offered",
                    "",
                    "",
                    f"{line['offered']} of {line['due']} due; invoked workers: {line['invoked']}",
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
            self._line("late", line["kind"], line["job"], f"{late / 1000:.1f} s late")
        self._line(name, line["kind"], line["job"], _describe(name, line))

    def reloaded(self, files: list[str]) -> None:
        """Print that the code of these files is loaded again."""
        self._line(
            "reloaded", "", "", ", ".join(files[:3]) + (f" and {len(files) - 3} more" * (len(files) > 3))
        )

    def summary(self) -> str:
        """Return the counts of all events so far."""
        counts = [f"{self.counts[name]} {name}" for name in COUNTED if name in self.counts]
        return ", ".join(counts) or "no jobs"

    def hint(self, port: int) -> None:
        """Print what to do next when all jobs are finished."""
        with self._lock:
            self._console.print(
                f"\nall jobs are finished: {self.summary()}. Enqueue another job from a second terminal:\n"
                f'  {_command()} enqueue echo \'{{"hello": "world"}}\'\n'
                f"  curl -H 'content-type: application/json' -d '{{\"kind\": \"echo\"}}' http://127.0.0.1:{port}/jobs\n"
                "Press Ctrl-C to stop.\n",
                highlight=False,
                soft_wrap=True,
            )

    def _line(self, name: str, kind: str, job: str, text: str) -> None:
        with self._lock:
            self.counts[name] = self.counts.get(name, 0) + 1
            output = Text(f"{datetime.now():%H:%M:%S}  ")
            output.append(f"{name:<10}", STYLES.get(name, ""))
            output.append(f"{kind:<8} {self._keys.get(job) or job[-12:]:<34} {text}")
            self._console.print(output, highlight=False, soft_wrap=True)


def _command() -> str:
    """Return the command as the user typed it."""
    return sys.argv[0] if Path(sys.argv[0]).name == "minutehand" else "minutehand"


def _describe(name: str, line: dict[str, Any]) -> str:
    if name == "claimed":
        return f"attempt {line['attempt']}" + (
            f", {line['lateness_ms'] / 1000:.1f} s after its due time" if line["attempt"] == 1 else ""
        )
    took = f"after {line['ran_ms']} ms" if "ran_ms" in line else ""
    error = f", {line['error_type']}" if "error_type" in line else ""
    return f"{took}{error}{_next_attempt(line)}"


def _next_attempt(line: dict[str, Any]) -> str:
    if "visible" not in line:
        return ""
    visible = datetime.fromisoformat(line["visible"])
    return (
        f"; next attempt in {max(0.0, (visible - datetime.now(visible.tzinfo)) / timedelta(seconds=1)):.1f} s"
    )
