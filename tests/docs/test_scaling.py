"""The modules of the page on scaling: few tenants move to a new shard, and a move loses and doubles nothing."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue, schedules
from minutehand.claim import take
from minutehand.operations.controls import pause
from minutehand.schedules import Schedule
from minutehand.schedules.fire import fire_due
from tests.conftest import NewDatabase
from tests.docs.reading import FILE_NAME, ROOT, blocks

PAGE = ROOT / "docs" / "scaling.md"
ROWS = (
    "select id, key, payload::text, run_at, attempts from minutehand.jobs where tenant = 'acme' order by id"
)
HOUR = timedelta(hours=1)

Rows = list[tuple[Any, ...]]
Load = Callable[[str], Any]


def save(folder: Path) -> None:
    """Save the modules of the page."""
    for block in blocks(PAGE):
        if (file := FILE_NAME.match(block.text)) is not None:
            (folder / file[1]).parent.mkdir(exist_ok=True)
            (folder / file[1]).write_text(block.text)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Import modules of the page."""
    save(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/none")
    yield lambda name: __import__(f"shop.{name}", fromlist=[name])
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


@pytest.fixture
def shards(modules: Load, new_database: NewDatabase) -> Iterator[tuple[Database, Database]]:
    """Two shards on which the tenant is paused."""
    urls = {name: new_database("direct-18").url for name in ("one", "two")}
    modules("shards").SHARDS.update(urls)
    with closing(Database(urls["one"])) as one, closing(Database(urls["two"])) as two:
        for shard in (one, two):
            pause(shard, tenant="acme")
        yield one, two


def rows(shard: Database) -> Rows:
    found: Rows = shard.connection.execute(ROWS).fetchall()
    return found


def fill(shard: Database) -> Rows:
    """Enqueue jobs of two tenants, one of them due later, and return those of acme."""
    enqueue("report", 12345678901234567890.0, tenant="acme", connection=shard)
    enqueue("report", {"n": 1}, tenant="acme", key="k", delay=HOUR, expires=HOUR, connection=shard)
    enqueue("report", tenant="globex", key="k", connection=shard)
    return rows(shard)


def test_new_shard_takes_its_share_from_all_others(modules: Load) -> None:
    shards, tenants = modules("shards"), [f"tenant-{n}" for n in range(9000)]
    shards.SHARDS = dict.fromkeys("abcdefgh", "")
    before = {tenant: shards.shard_of(tenant) for tenant in tenants}
    shards.SHARDS = dict.fromkeys("abcdefghi", "")
    moved = [tenant for tenant in tenants if shards.shard_of(tenant) != before[tenant]]

    assert {shards.shard_of(tenant) for tenant in moved} == {"i"}
    assert {before[tenant] for tenant in moved} == set("abcdefgh")
    assert len(moved) == pytest.approx(1000, rel=0.1)


def test_move_keeps_the_rows_and_leaves_other_tenants(
    modules: Load, shards: tuple[Database, Database]
) -> None:
    one, two = shards
    before = fill(one)

    assert modules("move").move("acme", "one", "two") == 2
    assert (rows(one), rows(two)) == ([], before)
    assert one.connection.execute("select tenant from minutehand.jobs").fetchall() == [("globex",)]
    assert two.connection.execute("select count(expires) from minutehand.jobs").fetchone() == (1,)


def test_running_job_stays_until_a_later_move(modules: Load, shards: tuple[Database, Database]) -> None:
    one, _ = shards
    one.connection.execute("delete from minutehand.controls")
    enqueue("report", tenant="acme", connection=one)
    (job,) = take(one, "default", 1, HOUR, HOUR)

    assert modules("move").move("acme", "one", "two") == 0
    assert [row[0] for row in rows(one)] == [job.id]


def test_repeated_move_after_a_failure_doubles_nothing(
    modules: Load, shards: tuple[Database, Database]
) -> None:
    one, two = shards
    before, move = fill(one), modules("move")
    # The new shard commits, and the old one does not.
    with psycopg.connect(move.SHARDS["one"]) as source, psycopg.connect(move.SHARDS["two"]) as target:
        move.move_rows(source, target, "acme", "jobs")
        target.commit()
        source.rollback()
    assert rows(one) == rows(two) == before

    assert move.move("acme", "one", "two") == 0
    assert (rows(one), rows(two)) == ([], before)


def test_key_that_was_enqueued_on_the_new_shard_wins(
    modules: Load, shards: tuple[Database, Database]
) -> None:
    one, two = shards
    enqueue("report", "old", tenant="acme", key="k", connection=one)
    newer = enqueue("report", "new", tenant="acme", key="k", connection=two)

    assert modules("move").move("acme", "one", "two") == 0
    assert ([row[0] for row in rows(one)], [row[0] for row in rows(two)]) == ([], [newer.id])


def test_occurrence_that_both_shards_fired_is_kept_once(
    modules: Load, shards: tuple[Database, Database]
) -> None:
    one, two = shards
    hourly = Schedule("hourly", "@hourly", NewJob("report"))
    for shard in (one, two):
        schedules.save(shard, hourly)
        for table in ("schedules", "firings"):
            shard.connection.execute(f"update minutehand.{table} set tenant = 'acme'".encode())
        due = shard.connection.execute("select next from minutehand.schedules").fetchone()
        assert due is not None and fire_due(shard, due[0]).fired == 1
    (kept,) = rows(two)

    assert modules("move").move("acme", "one", "two") == 0
    assert rows(two) == [kept]
    assert one.connection.execute("select from minutehand.schedules").fetchall() == []
    assert len(two.connection.execute("select from minutehand.schedules").fetchall()) == 1


def test_costs_on_the_page_are_those_of_the_price_list(tmp_path: Path) -> None:
    save(tmp_path)
    printed = subprocess.run(
        [sys.executable, "-m", "shop.costs"], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert printed.stdout in [block.text for block in blocks(PAGE) if block.language == "text"]


def test_prices_on_the_page_have_the_date_of_the_price_list() -> None:
    from minutehand_pipeline.prices import DATED

    assert re.search(rf"as of {DATED:%-d %B %Y}", PAGE.read_text("utf-8"))
