"""Show: print a line for each event of a local run."""

import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from rich.console import Console
from rich.text import Text

from minutehand.cli.tables import cut
from minutehand.cli.text import error_line, safe, span, took
from minutehand.database import Record
from minutehand.model.row import Row

LATE_MS = 5000
# The widths of the columns between the time and the text.
NAME, KIND, KEY = 13, 16, 34
# Keys of this many jobs are remembered.
MOST_KEYS = 10_000
NO_JOBS = "no jobs"
# The fields of a line about a job. Handlers may log lines with some of them.
LOGGED = {"job", "kind"}
COUNTED = (
    "enqueued",
    "done",
    "retried",
    "snoozed",
    "released",
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

    def __init__(
        self,
        console: Console,
        find: Callable[[str], Row | None] = lambda _: None,
        link: Callable[[str], str] | None = None,
    ) -> None:
        """Print to this console. Logs have neither keys nor messages of errors, so `find` returns a job by its id.

        `link` returns the address of a job's page, for terminals that have links.
        """
        self._console, self._find, self._link = console, find, link
        self._lock = Lock()
        self._keys: dict[str, str] = {}
        self._repeated: set[tuple[str, str, str]] = set()
        self.counts: dict[str, int] = {}
        self._enqueued = ""

    def enqueued(self, record: Record) -> None:
        """Print a new job."""
        self._remember(str(record["id"]), record["key"])
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
            if line.get("offered"):
                self._line(
                    "offered",
                    "",
                    "",
                    f"{line['offered']} of {line['due']} due; invoked workers: {line['invoked']}",
                )
        elif line.keys() >= LOGGED:
            self._job(name, line)
        elif name == "offers lapsed":
            lapsed = f"no worker was free for {line['lapsed']} of queue {line['queue']}"
            self._line(name, "", "", f"{lapsed}; at most {line['budget']} are offered at once now")
        else:
            known = (line.get(each) for each in ("error", "text", "exit", "reason"))
            self._once(name, function, str(next((each for each in known if each), "")))

    def _once(self, name: str, function: str, text: str) -> None:
        """Print a line, but what each tick or invocation repeats only once until a reload."""
        if name == "failed" or (function == "dispatcher" and name != "crashed"):
            with self._lock:
                if (name, function, text) in self._repeated:
                    return
                self._repeated.add((name, function, text))
        self._line(name, function, "", text)

    def _job(self, name: str, line: dict[str, Any]) -> None:
        late = timedelta(milliseconds=line.get("lateness_ms", 0))
        if name == "claimed" and late > timedelta(milliseconds=LATE_MS) and line["attempt"] == 1:
            self._line("late", line["kind"], line["job"], f"{span(late)} late")
        self._line(name, line["kind"], line["job"], self._describe(name, line))

    def _describe(self, name: str, line: dict[str, Any]) -> str:
        if name == "claimed":
            late = timedelta(milliseconds=line.get("lateness_ms", 0))
            return f"attempt {line['attempt']}" + (f", due {_ago(late)}" if line["attempt"] == 1 else "")
        # The time of an attempt that does not count is not measured.
        timed = "ran_ms" in line and name != "released"
        ran = f"after {took(timedelta(milliseconds=line['ran_ms']))}" if timed else ""
        cause = self._cause(line) if "error_type" in line else ""
        again = _next_attempt(line)
        if again:
            # The sentence goes on.
            cause = cause.rstrip(".")
        return "; ".join(filter(None, [": ".join(filter(None, [ran, cause])), again]))

    def _cause(self, line: dict[str, Any]) -> str:
        row = self._find(line["job"])
        return error_line(row.error) if row and row.error else str(line["error_type"])

    def _key(self, job: str) -> str:
        """Return a job's key. That of a job of an earlier run is read once."""
        if job not in self._keys:
            row = self._find(job)
            self._remember(job, row.key if row else None)
        return self._keys.get(job, "")

    def _remember(self, job: str, key: str | None) -> None:
        with self._lock:
            if len(self._keys) >= MOST_KEYS:
                del self._keys[next(iter(self._keys))]
            self._keys[job] = key or ""

    def reloaded(self, files: list[str]) -> None:
        """Print that the code of these files is loaded again."""
        with self._lock:
            self._repeated.clear()
        self._line(
            "reloaded", "", "", ", ".join(files[:3]) + (f" and {len(files) - 3} more" * (len(files) > 3))
        )

    def not_started(self, target: str) -> None:
        """Print that an application does not answer."""
        self._line("failed", "api", "", f"{target} did not start; see the error above")

    def set_enqueued(self, text: str) -> None:
        """Replace the number of enqueued jobs in the summary, which is that of the lines."""
        self._enqueued = text

    def summary(self) -> str:
        """Return the counts of all events so far."""
        counts: dict[str, object] = dict(self.counts)
        if self._enqueued:
            counts["enqueued"] = self._enqueued
        return ", ".join(f"{counts[name]} {name}" for name in COUNTED if name in counts) or NO_JOBS

    def stopping(self, running: int) -> None:
        """Print what a stop waits for."""
        if running:
            jobs = "1 job is" if running == 1 else f"{running} jobs are"
            with self._lock:
                self._console.print(
                    f"\nstopping: {jobs} running; press Ctrl-C again to stop now", highlight=False
                )

    def hint(self, port: int) -> None:
        """Print what to do next when all jobs are finished, or before the first one."""
        jobs = self.summary()
        now = (
            "waiting for jobs. Enqueue one"
            if jobs == NO_JOBS
            else f"all jobs are finished: {jobs}. Enqueue another job"
        )
        with self._lock:
            self._console.print(
                f"\n{now} from a second terminal:\n"
                f'  {_command()} enqueue echo \'{{"hello": "world"}}\'\n'
                f"  curl -H 'content-type: application/json' -d '{{\"kind\": \"echo\"}}' http://127.0.0.1:{port}/jobs\n"
                "Press Ctrl-C to stop.\n",
                highlight=False,
                soft_wrap=True,
            )

    def _line(self, name: str, kind: str, job: str, text: str) -> None:
        shown = (self._key(job) or job[-12:]) if job else ""
        with self._lock:
            self.counts[name] = self.counts.get(name, 0) + 1
            output = Text(f"{datetime.now():%H:%M:%S}  ")
            output.append(f"{cut(name, NAME)}  ", STYLES.get(name, ""))
            output.append(f"{cut(kind, KIND)}  ")
            style = f"link {self._link(job)}" if job and self._link else ""
            output.append(cut(shown, KEY), style)
            output.append(f"  {safe(text)}")
            output.rstrip()
            self._console.print(output, highlight=False, soft_wrap=True)


def _command() -> str:
    """Return the command as the user typed it."""
    return sys.argv[0] if Path(sys.argv[0]).name == "minutehand" else "minutehand"


def _ago(late: timedelta) -> str:
    return "just now" if late < timedelta(seconds=1) else f"{span(late)} ago"


def _next_attempt(line: dict[str, Any]) -> str:
    if "visible" not in line:
        return ""
    visible = datetime.fromisoformat(line["visible"])
    wait = visible - datetime.now(visible.tzinfo)
    return "next attempt now" if wait < timedelta(seconds=0.5) else f"next attempt in {span(wait)}"
