"""Reading with the data source `minutehand` returns every row once, in the lake's schema."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand.database import Database, connect
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.queue.columns import EXPRESSIONS
from minutehand_pipeline.queue.ranges import Pages, Selection, select_text
from minutehand_pipeline.queue.source import QueueSource, held_snapshot, register
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.history import LAST, fill_history
from tests.queue.logins import logins
from tests.servers import Database as Address
from tests.waiting import until

pytestmark = pytest.mark.spark_floor

Read = Callable[..., DataFrame]
OLDER = "select clock_timestamp() > now() + interval '2.5 s'"


@pytest.fixture
def url_file(direct_database: Address, tmp_path: Path) -> Path:
    """A file with the database's URL, like a mounted secret."""
    file = tmp_path / "url"
    file.write_text(direct_database.url)
    return file


@pytest.fixture
def read(spark: SparkSession, url_file: Path) -> Read:
    register(spark)

    def load(**options: object) -> DataFrame:
        reader = spark.read.format("minutehand").option("url_file", str(url_file))
        for name, value in options.items():
            reader = reader.option(name, str(value))
        return reader.load()

    return load


@pytest.fixture
def filled(direct_database: Address) -> Iterator[psycopg.Connection]:
    with connect(direct_database.admin_url) as connection:
        fill_history(connection, 3000, days=3)
        yield connection


@pytest.mark.parametrize("home", HOMES)
def test_every_row_is_read_once(read: Read, filled: psycopg.Connection, home: str) -> None:
    frame = read(table=home, partitions=5)

    table = HOMES[home]
    assert frame.schema == table.schema
    key = F.concat_ws("/", *(F.col(name).cast("string") for name in ("id" if "id" in table.key else "job",)))
    counted = frame.agg(F.count("*"), F.count_distinct(key), F.min("day"), F.max("day")).collect()[0]
    rows, days = filled.execute(
        f"select count(*), array_agg(distinct ({table.dated} at time zone 'UTC')::date) from minutehand.{home}"
    ).fetchall()[0]
    assert (counted[0], counted[2], counted[3]) == (rows, min(days), max(days))


def test_rows_equal_those_in_postgres(read: Read, filled: psycopg.Connection) -> None:
    filled.execute(
        "update minutehand.jobs_done set timeout = '1 hour 0.5 s', nominal = run_at where id = md5('job8')::uuid"
    )
    frame = read(columns="id,payload,headers,state,timeout,priority,personal,nominal,error")
    rows = {row.id: tuple(row) for row in frame.limit(5000).toLocalIterator()}

    stored = filled.execute(
        "select id::text, payload::text, headers::text, minutehand.state(j), extract(epoch from timeout)::float8,"
        " priority::integer, personal, nominal::timestamp, error::text from minutehand.jobs j"
    ).fetchall()
    assert len(rows) == len(stored)
    assert [row for row in stored if rows[row[0]] != row] == []


def test_day_options_include_both_ends(read: Read, filled: psycopg.Connection) -> None:
    days = [LAST - timedelta(days=2), LAST - timedelta(days=1), LAST]

    assert seen_days(read(day=LAST)) == [LAST]
    assert seen_days(read(since=days[1])) == days[1:]
    assert seen_days(read(until=days[1])) == days[:2]
    assert seen_days(read(table="attempts", since=days[1], until=days[1])) == [days[1]]


def seen_days(frame: DataFrame) -> list[date]:
    return [row.day for row in frame.select("day").distinct().orderBy("day").collect()]


def test_rows_without_partition_are_read(
    read: Read, direct_database: Address, filled: psycopg.Connection
) -> None:
    filled.execute(
        "insert into minutehand.jobs (kind, deleted) values ('k', '2020-02-29 23:59:59.999999+00'), ('k', '2020-03-01')"
    )

    assert read(day="2020-02-29").count() == 1
    assert read().count() == 3002


def test_snapshot_is_held_for_longer_than_idle_transactions_may_last(
    read: Read, direct_database: Address, filled: psycopg.Connection
) -> None:
    options = "options=-c%20idle_in_transaction_session_timeout%3D2s"
    url = f"{direct_database.url}{'&' if '?' in direct_database.url else '?'}{options}"
    with held_snapshot(Database(url)) as snapshot:
        with filled.transaction():
            until(lambda: filled.execute(OLDER).fetchone() == (True,))

        assert read(snapshot=snapshot, partitions=2).count() == 3000


def test_snapshot_hides_later_commits(
    read: Read, direct_database: Address, filled: psycopg.Connection
) -> None:
    with held_snapshot(Database(direct_database.url)) as snapshot:
        filled.execute(
            "delete from minutehand.jobs where deleted is not null and priority = 5 and kind = 'email'"
        )
        filled.execute(
            "update minutehand.jobs_done set version = 'v2'"
        )  # rewrites every row at the end of its table
        filled.execute(
            "insert into minutehand.jobs (kind, deleted) select 'late', %s from generate_series(1, 100)",
            [LAST],
        )
        then = read(snapshot=snapshot, partitions=4)
        seen = then.agg(F.count("*"), F.count_distinct("id"), F.min("version"), F.max("version")).collect()[0]
    now = read(partitions=4).agg(F.count("*"), F.max("version")).collect()[0]

    assert tuple(seen) == (3000, 3000, "v1", "v1")
    assert tuple(now) == (2500, "v2")


def test_detached_partition_is_read_by_name(read: Read, filled: psycopg.Connection) -> None:
    name = f"jobs_done_{LAST:%Y%m%d}"
    filled.execute(f"alter table minutehand.jobs_done detach partition minutehand.{name}")

    assert read(relation=name, partitions=3).count() == 1000
    assert read().count() == 2000


def test_row_level_security_applies_to_reads(
    spark: SparkSession, direct_database: Address, filled: psycopg.Connection, tmp_path: Path
) -> None:
    register(spark)
    filled.execute(
        "insert into minutehand.jobs (kind, deleted, tenant)"
        " values ('k', '2020-02-29', 'acme'), ('k', '2020-02-29', '')"
    )
    counts = {}
    with logins(direct_database) as login:
        made = {role: str(login(role)._url) for role in ("operator", "tenant")}
        role = psycopg.conninfo.conninfo_to_dict(made["tenant"])["user"]
        filled.execute("insert into minutehand.tenant_roles values (%s, 'acme')", [role])
        for role, url in made.items():
            (tmp_path / role).write_text(url)
            reader = spark.read.format("minutehand").option("url_file", str(tmp_path / role))
            counts[role] = [reader.option("table", home).load().count() for home in ("jobs_done", "attempts")]

    own = filled.execute(
        "select (select count(*) from minutehand.jobs_done where tenant = 'acme'), count(*) from minutehand.attempts"
    ).fetchall()[0]
    assert counts["operator"] == [3002, own[1]]
    assert counts["tenant"][0] == own[0]


def test_share_scans_its_pages_only(filled: psycopg.Connection) -> None:
    selection = Selection(HOMES["jobs_done"], ("id", "payload"), LAST, LAST)
    text = select_text(selection, Pages(f"jobs_done_{LAST:%Y%m%d}", 2, 4), EXPRESSIONS["jobs_done"])
    with filled.transaction():
        filled.execute("set local role minutehand_operator")
        plan = "\n".join(row[0] for row in filled.execute("explain " + text).fetchall())

    assert "Tid Range Scan on " in plan
    assert plan.count("Scan on ") == 1


def test_row_of_ten_megabytes_is_read_completely(read: Read, filled: psycopg.Connection) -> None:
    filled.execute(
        "insert into minutehand.jobs (kind, deleted, payload) values ('k', %s, to_json(repeat('é', 5000000)))",
        [LAST],
    )

    row = read(day=LAST).select(F.max(F.length("payload")), F.max(F.octet_length("payload"))).collect()[0]
    assert tuple(row) == (5_000_002, 10_000_002)


def test_empty_queue_gives_an_empty_frame(read: Read) -> None:
    assert read().count() == read(table="events", day=LAST).count() == 0


def test_plan_does_not_contain_the_url(
    read: Read, direct_database: Address, filled: psycopg.Connection, capsys
) -> None:
    read().where("priority > 3").explain("extended")

    password = urlsplit(direct_database.url).password
    plan = capsys.readouterr().out
    assert "minutehand" in plan.lower()
    assert password not in plan


INVALID_OPTIONS: list[tuple[dict[str, str], str]] = [
    ({"table": "jobs_live"}, "table must be one of jobs_done, attempts, events, got 'jobs_live'"),
    ({"colums": "id"}, "unknown read option 'colums'"),
    ({"columns": "id,password"}, "jobs_done has no column 'password'"),
    ({"columns": "id,id"}, "columns must not repeat a name"),
    ({"day": "yesterday"}, "day must be a UTC day such as 2026-03-31, got 'yesterday'"),
    ({"day": "2026-03-31", "until": "2026-03-31"}, "expected day, or since and until, got both"),
    ({"partitions": "0"}, "partitions must be an integer from 1 to 10000"),
    ({"relation": "jobs_live"}, "relation must be a day of jobs_done"),
    ({"relation": "jobs_done_20260331; drop table x"}, "relation must be a day of jobs_done"),
    ({"relation": "jobs_done_20990101"}, "the database has no relation jobs_done_20990101"),
    ({"snapshot": "'; drop table x; --"}, "snapshot must be an id from pg_export_snapshot()"),
    ({"url_variable": "X"}, "expected url_variable or url_file, got both"),
]


def test_invalid_read_option_is_rejected(read: Read, url_file: Path) -> None:
    invalid, message = INVALID_OPTIONS[0]
    with pytest.raises(PySparkException, match=re.escape(message)):
        read(**invalid).collect()

    for options, says in INVALID_OPTIONS:
        source = QueueSource({"url_file": str(url_file), **options})
        with pytest.raises(InputError, match=re.escape(says)):
            source.reader(source.schema()).partitions()
