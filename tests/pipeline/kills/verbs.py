"""What each command starts from, how it is called, and what must be true after a kill and after its repetition."""

import json
import random
import zipfile
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from tests.pipeline.kills.world import PRIVATE, STAGED, World, minus

JOBS = 600
LATE = """insert into minutehand.jobs (kind, deleted) select 'late', timestamptz '2026-03-31 23:59:59+00'
            from generate_series(1, 3)"""


@dataclass
class Verb:
    """A command and its checks. Each check returns what is wrong."""

    world: World
    chance: random.Random
    spark: bool = True
    stored: str = ""
    expected: dict[str, pa.Table] = field(default_factory=dict)

    def begin(self) -> None:
        """Prepare a round."""
        self.world.begin(self.stored)
        self.expected = self.world.expected()

    def words(self) -> tuple[str, ...]:
        """Return the command."""
        raise NotImplementedError

    def after_kill(self) -> list[str]:
        """Check what must be true at any time."""
        return []

    def before_repeat(self) -> None:
        """Change what may change between a kill and its repetition."""

    def after_repeat(self) -> list[str]:
        """Check the result."""
        raise NotImplementedError


@dataclass
class Archive(Verb):
    """Copy two days of three tables, and in half of the rounds drop them. Rows may arrive between the runs."""

    stored: str = "filled"
    drop: bool = False

    def begin(self) -> None:
        super().begin()
        self.drop = self.chance.random() < 0.5

    def words(self) -> tuple[str, ...]:
        options = ("--drop",) if self.drop else ()
        return ("archive", str(self.world.lake), "--wait", "30s", "--vacuum", *options)

    def after_kill(self) -> list[str]:
        return self.world.differences(self.expected, subset=True)

    def before_repeat(self) -> None:
        if self.chance.random() < 0.3:
            before = self.world.expected()
            self.world.sql(LATE)
            late = minus(self.world.expected()["jobs"], before["jobs"])
            self.expected["jobs"] = pa.concat_tables([self.expected["jobs"], late])
        self.world.age_stray_files()

    def after_repeat(self) -> list[str]:
        left = self.world.sql("select count(*)::int from minutehand.jobs where deleted is not null")
        return [
            *self.world.differences(self.expected),
            *self.world.ledger_differences(),
            *(f"{path} is in no table" for path in self.world.stray_files()),
            *(f"{rows} rows were not dropped" for (rows,) in left if self.drop and rows),
        ]


@dataclass
class Load(Verb):
    """Enqueue jobs of two files."""

    stored: str = "empty"

    def begin(self) -> None:
        super().begin()
        folder = self.world.home / "world" / "in"
        folder.mkdir()
        for half in (0, 1):
            rows = [{"kind": "loaded", "key": f"k{n}", "payload": n} for n in range(half, JOBS, 2)]
            (folder / f"{half}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def words(self) -> tuple[str, ...]:
        home = self.world.home / "world"
        return ("load", str(home / "in"), "--load", "once", "--rejects", str(home / "rejects"))

    def after_kill(self) -> list[str]:
        [(entered,)] = self.world.sql("select count(*)::int from minutehand.jobs")
        return [] if entered in (0, JOBS) else [f"{entered} of {JOBS} jobs are visible"]

    def after_repeat(self) -> list[str]:
        jobs = self.world.sql("select kind::text, key::text, payload::text::integer from minutehand.jobs")
        columns = zip(*jobs, strict=True) if jobs else ((), (), ())
        entered = pa.table(dict(zip(("kind", "key", "payload"), map(list, columns), strict=True)))
        given = f"select kind, key, payload from read_json('{self.world.home}/world/in/*.ndjson')"
        with duckdb.connect() as connection:
            connection.register("entered", entered)
            lost = connection.execute(f"({given}) except all (from entered)").fetchall()
            more = connection.execute(f"(from entered) except all ({given})").fetchall()
        loads = self.world.sql(
            "select created + replaced + ignored from minutehand.loads where load = 'once'"
        )
        [(staged,)] = self.world.sql(STAGED)
        return [
            *(
                [f"{len(lost)} rows were not entered, {len(more)} were entered too often"]
                if lost or more
                else []
            ),
            *([f"the ledger has {loads}"] if loads != [(JOBS,)] else []),
            *([f"{staged} staging tables remain"] if staged else []),
        ]


@dataclass
class Report(Verb):
    """Replace a report that did not summarize the days by one that does."""

    stored: str = "archived"

    def words(self) -> tuple[str, ...]:
        return ("report", str(self.world.lake), "--out", str(self.world.home / "world" / "report"))

    def after_kill(self) -> list[str]:
        report = self.world.home / "world" / "report" / "report.json"
        return [*self.world.differences(self.expected), *([] if report.exists() else ["there is no report"])]

    def after_repeat(self) -> list[str]:
        home = self.world.home / "world"
        query = """select day::date, queue, kind, {} from {} group by all"""
        tables = f"read_parquet('{home}/report/tables/throughput.parquet')"
        state = "count_if(state = 'done'), count_if(state = 'dead'), count_if(state = 'cancelled')"
        lake = f"read_parquet({self.world.files('jobs')}, hive_partitioning = true)"
        with duckdb.connect() as connection:
            reported = query.format("sum(jobs), sum(done), sum(dead), sum(cancelled)", tables)
            expected = query.format(f"count(*), {state}", lake)
            differ = connection.execute(
                f"(({reported}) except all ({expected})) union all (({expected}) except all ({reported}))"
            ).fetchall()
        names = sorted(str(path.relative_to(home)) for path in (home / "report").rglob("*"))
        first = self.world.home / self.stored
        usual = sorted(str(path.relative_to(first)) for path in (first / "report").rglob("*"))
        return [
            *([f"{len(differ)} numbers differ, such as {differ[0]}"] if differ else []),
            *(f"{path.name} remains" for path in home.iterdir() if path.name.startswith(".")),
            *([f"the report has {names}"] if names != usual else []),
            *(f"{path} is not complete" for path in home.rglob("*.zip") if not zipfile.is_zipfile(path)),
            *self.world.differences(self.expected),
        ]


@dataclass
class Erase(Verb):
    """Erase a tenant, a key or a job."""

    spark: bool = False
    stored: str = "archived"
    subject: tuple[str, str] = ("", "")
    erased: dict[str, pa.Table] = field(default_factory=dict)

    def begin(self) -> None:
        super().begin()
        jobs = self.expected["jobs"].to_pylist()
        what = self.chance.choice(("tenant", "key", "job"))
        column = {"job": "id"}.get(what, what)
        value = self.chance.choice(sorted({job[column] for job in jobs if job[column]}))
        self.subject = what, value
        ids = [job["id"] for job in jobs if job[column] == value]
        self.erased = {name: self._cleared(name, table, ids) for name, table in self.expected.items()}

    def _cleared(self, name: str, table: pa.Table, ids: list[str]) -> pa.Table:
        whose = table["id" if name != "events" else "job"]
        subject = pc.is_in(whose, pa.array(ids, pa.string()))
        for column in set(PRIVATE) & set(table.column_names):
            kept = pc.if_else(subject, pa.scalar(None, pa.string()), table[column])
            table = table.set_column(table.column_names.index(column), column, kept)
        return table

    def words(self) -> tuple[str, ...]:
        return ("erase", str(self.world.lake), f"--{self.subject[0]}", self.subject[1])

    def after_kill(self) -> list[str]:
        """No row is lost or doubled; each has either all of its private columns or none."""
        found = []
        with duckdb.connect() as connection:
            for name in self.expected:
                both = pa.concat_tables([self.expected[name], self.erased[name]])
                connection.register("allowed", both)
                lake = self.world.rows(name, self.world.files(name))
                wrong = connection.execute(f"({lake}) except (from allowed)").fetchall()
                [(count,)] = connection.execute(f"select count(*) from ({lake})").fetchall()
                if wrong or count != self.expected[name].num_rows:
                    found.append(f"{name}: {count} rows, {len(wrong)} of them unknown")
        return found

    def after_repeat(self) -> list[str]:
        return [
            *self.world.differences(self.erased),
            *self.world.ledger_differences(),
            *(f"{path} is in no table" for path in self.world.stray_files()),
        ]


@dataclass
class Compact(Verb):
    """Merge the small files of the days."""

    spark: bool = False
    stored: str = "archived"

    def words(self) -> tuple[str, ...]:
        return ("compact", str(self.world.lake), "--files", "2")

    def after_kill(self) -> list[str]:
        return self.world.differences(self.expected)

    def after_repeat(self) -> list[str]:
        days = [path.split("/")[-2:-1] for table in self.expected for path in self.world.files(table)]
        expected = len(self.expected) * 2
        return [
            *self.world.differences(self.expected),
            *self.world.ledger_differences(),
            *([f"{len(days)} files, expected {expected}"] if len(days) != expected else []),
        ]


VERBS: dict[str, type[Verb]] = {
    "archive": Archive,
    "load": Load,
    "report": Report,
    "erase": Erase,
    "compact": Compact,
}
