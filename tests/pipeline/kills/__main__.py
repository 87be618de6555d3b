"""Kill commands at random moments: python -m tests.pipeline.kills VERB... --kills 200."""

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from bench.server import fresh, server
from minutehand.schema.migrate import migrate
from tests.pipeline.history import fill_history
from tests.pipeline.kills.runs import KINDS, WEIGHTS, Runner
from tests.pipeline.kills.verbs import VERBS, Verb
from tests.pipeline.kills.world import NAME, World

DAYS, ROWS = 2, 120
# Runs of a command at most, on a Java whose Python processes were killed: it uses each of them once more.
RUNS = 8
# Late rows are archived this many times, so that days have several files.
LATE = 3


@dataclass
class Campaign:
    """Kills of some commands, and what was found."""

    world: World
    runner: Runner
    chance: random.Random
    journal: Path
    kills: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    took: dict[str, deque[float]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Store three beginnings: without rows, with two finished days, and with these days in a lake."""
        from minutehand.database import connect

        self.world.begin()
        migrate(self.world.url)
        self.world.store("empty")
        with connect(self.world.url) as connection:
            fill_history(connection, ROWS, days=DAYS)
        self.world.store("filled")
        lake = str(self.world.lake)
        for _ in range(LATE):
            self.run(("archive", lake), spark=True)
            for day in ("2026-03-30", "2026-03-31"):
                self.world.sql(
                    "insert into minutehand.jobs (kind, deleted) values ('late', %s::date + interval '9 hours')",
                    day,
                )
                self.world.sql(
                    "insert into minutehand.attempts (job, attempt, started, ended, tenant, queue, kind, outcome)"
                    " select id, 1, deleted - interval '1 s', deleted, '', queue, kind, 'done'"
                    "   from minutehand.jobs where kind = 'late' and not exists"
                    "        (select from minutehand.attempts a where a.job = jobs.id)"
                )
                self.world.sql(
                    "insert into minutehand.events (id, at, tenant, name, job, queue, kind, facts)"
                    " select gen_random_uuid(), deleted, '', 'done', id, queue, kind, '{}' from minutehand.jobs"
                    "  where kind = 'late' and not exists (select from minutehand.events e where e.job = jobs.id)"
                )
        self.run(("archive", lake), spark=True)
        # Without this option, the next report finds nothing to read.
        self.run(
            ("report", lake, "--out", f"{self.world.lake.parent}/report", "--objective", "5m"), spark=True
        )
        self.world.store("archived")

    def run(self, words: tuple[str, ...], *, spark: bool) -> float:
        """Run a command that must succeed; return its seconds."""
        code, took = self.runner.complete(words, spark=spark)
        if code:
            raise RuntimeError(f"{words} ended with {code}: {self.runner.output.read_text()}")
        return took

    def round(self, name: str) -> None:
        """Kill a command some times, then let it end, and check the rows after each."""
        verb = VERBS[name](self.world, self.chance)
        verb.begin()
        self.rounds[name] += 1
        for _ in range(self.chance.randint(1, 8)):
            if not self.kill(name, verb):
                break
            self.check(name, "a kill", verb.after_kill())
            verb.before_repeat()
        self.runner.settle()
        self.world.settle()
        verb.before_repeat()
        code, took = self.complete(verb)
        self.took.setdefault(name, deque(maxlen=30)).append(took)
        if code:
            self.check(name, "the repetition", [f"exit code {code}: {self.runner.output.read_text()[-500:]}"])
        self.check(name, "the repetition", verb.after_repeat())

    def complete(self, verb: Verb) -> tuple[int, float]:
        """Run a command to its end, again if it failed on a Java that outlived its Python processes."""
        for _ in range(RUNS):
            code, took = self.runner.complete(verb.words(), spark=verb.spark)
            if not code or not self.runner.lost_tasks:
                break
        return code, took

    def kill(self, name: str, verb: Verb) -> bool:
        """Kill a run at a random moment. Return False if it had ended before."""
        # The longest, because a repetition after a kill that came late has little to do.
        usual = max(self.took.get(name, [10.0]))
        kind = self.chance.choices(KINDS, WEIGHTS if verb.spark else (1, 0, 0))[0]
        process = self.runner.start(verb.words(), spark=verb.spark)
        began, moment = monotonic(), self.chance.uniform(0, usual)
        process.join(moment)
        if process.exitcode is not None:
            return False
        self.runner.kill(process, kind)
        self.kills[name] += 1
        self.kinds[kind] += 1
        self.note(verb=name, kill=kind, after=round(monotonic() - began, 3), usual=round(usual, 3))
        return True

    def check(self, name: str, when: str, found: list[str]) -> None:
        """Note what is wrong."""
        for problem in found:
            self.problems.append(f"{name}, round {self.rounds[name]}, after {when}: {problem}")
            self.note(verb=name, problem=problem, when=when)
            sys.stdout.write(f"{self.problems[-1]}\n")
            sys.stdout.flush()

    def note(self, **facts: object) -> None:
        """Append to the journal."""
        with self.journal.open("a") as file:
            file.write(
                json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), **facts}) + "\n"
            )

    def summary(self) -> str:
        """Return the numbers of kills."""
        verbs = ", ".join(f"{name} {self.kills[name]} in {self.rounds[name]} rounds" for name in self.kills)
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.items())
        return f"kills: {verbs}; of the {kinds}; problems: {len(self.problems)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verbs", nargs="+", choices=list(VERBS))
    parser.add_argument("--kills", type=int, default=200, help="kills of each command")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--minutes", type=float, default=600, help="stop after this time")
    parser.add_argument("--journal", type=Path, default=Path("kills.jsonl"))
    options = parser.parse_args()
    ends = monotonic() + options.minutes * 60
    with server() as url, tempfile.TemporaryDirectory(prefix="minutehand-kills-") as folder:
        # Spark's tasks inherit the address, and its files end with the folder.
        world = World(url, Path(folder))
        os.environ |= {"DATABASE_URL": world.url, "SPARK_LOCAL_DIRS": folder, "TZ": "Asia/Kolkata"}
        os.environ |= dict.fromkeys(("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"), sys.executable)
        campaign = Campaign(world, Runner(Path(folder)), random.Random(options.seed), options.journal)
        try:
            fresh(url, NAME)
            campaign.prepare()
            while monotonic() < ends:
                unfinished = [name for name in options.verbs if campaign.kills[name] < options.kills]
                if not unfinished:
                    break
                campaign.round(min(unfinished, key=lambda name: campaign.kills[name]))
        finally:
            campaign.runner.close()
            sys.stdout.write(f"seed {options.seed}; {campaign.summary()}\n")
    return 1 if campaign.problems else 0


if __name__ == "__main__":
    sys.exit(main())
