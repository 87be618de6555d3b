"""Load, end to end: files of every format become jobs, in their order, spread as asked, and what is none is told."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand_pipeline.errors import InputError
from tests.pipeline.load.stage import Stage


def test_lines_of_json_become_jobs_in_their_order(stage: Stage) -> None:
    path = stage.file(
        "jobs.ndjson",
        '{"kind": "welcome", "payload": {"n": 1, "text": "é\\u0000"}, "key": "a", "priority": 9, "delay": "10m"}',
        "",
        '{"kind": "report", "payload": [1.5, 12345678901234567890], "queue": "slow", "headers": {"t": "7"},'
        ' "personal": true}',
        '{"kind": "report", "key": ["order", 17], "retry": {"strategy": "fixed", "min": 5}, "timeout": 30,'
        ' "tenant": "acme"}',
    )

    result = stage.load(path)

    assert (result.created, result.replaced, result.ignored, result.rejected, result.fresh) == (
        3,
        0,
        0,
        0,
        True,
    )
    found = stage.jobs(
        "kind, queue, key, payload::text, priority, headers::text, personal, tenant, timeout, retry ->> 'strategy'"
    )
    assert found == [
        ("report", "slow", None, "[1.5,12345678901234567890]", 5, '{"t": "7"}', True, "", None, None),
        ("report", "default", "order/17", "null", 5, None, False, "acme", timedelta(seconds=30), "fixed"),
        ("welcome", "default", "a", '{"n":1,"text":"é\\u0000"}', 9, None, False, "", None, None),
    ]
    assert stage.staging() == []


def test_cells_and_columns_become_jobs_too(stage: Stage) -> None:
    cells = stage.file(
        "jobs.csv",
        b"\xef\xbb\xbfkind,payload,key,priority,delay",
        'a,"{""n"": 1.10}",k1,7,',
        "b,,,,90s",
        "a,3,k2,,",
    )
    table = pa.table(
        {
            "kind": ["c", "c"],
            "payload": ['{"n": 1.10}', None],
            "run_at": pa.array([datetime(2099, 1, 1, tzinfo=UTC), None], pa.timestamp("ns", "UTC")),
            "headers": [None, '{"a": "b"}'],
        }
    )
    pq.write_table(table, stage.home / "jobs.parquet")

    assert stage.load(cells).created == 3
    assert stage.load(str(stage.home / "jobs.parquet")).created == 2

    found = stage.jobs("kind, key, payload::text, priority")
    assert found == [
        ("a", "k1", '{"n":1.1}', 7),
        ("a", "k2", "3", 5),
        ("c", None, "null", 5),
        ("b", None, "null", 5),
        ("c", None, '{"n": 1.10}', 5),
    ]
    assert stage.rows("select run_at from minutehand.jobs where kind = 'c' and headers is null") == [
        (datetime(2099, 1, 1, tzinfo=UTC),)
    ]


def test_a_large_file_is_cut_into_pieces_and_every_line_counts_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minutehand_pipeline.load.files.PIECE", 1000)
    lines = [json.dumps({"kind": "k", "key": f"k{n}", "payload": "x" * (n % 97)}) for n in range(500)]
    lines[250] = "broken"
    path = stage.file("jobs.ndjson", *lines)

    result = stage.load(path, rejects=stage.home / "rejects")

    assert (result.created, result.rejected) == (499, 1)
    assert [key for (key,) in stage.jobs("key")] == [f"k{n}" for n in range(500) if n != 250]
    assert json.loads((stage.home / "rejects").read_text())["line"] == 251


def test_of_rows_that_share_a_key_the_last_replaces_and_the_first_keeps_out(stage: Stage) -> None:
    stage.connection.execute(
        "select minutehand.enqueue('old', '0', key => 'a'), minutehand.enqueue('old', '0', key => 'z')"
    )
    first = stage.file(
        "1.ndjson", '{"kind": "k", "key": "a", "payload": 1}', '{"kind": "k", "key": "b", "payload": 1}'
    )
    second = stage.file(
        "2.ndjson", '{"kind": "k", "key": "b", "payload": 2}', '{"kind": "k", "key": "c", "queue": "q"}'
    )

    ignored = stage.load(first, second, load="i", on_conflict="ignore")
    after = stage.rows("select key, payload::text from minutehand.jobs order by key")
    replaced = stage.load(first, second, load="r")

    assert (ignored.created, ignored.replaced, ignored.ignored) == (2, 0, 2)
    assert after == [("a", "0"), ("b", "1"), ("c", "null"), ("z", "0")]
    assert (replaced.created, replaced.replaced, replaced.ignored) == (0, 3, 1)
    assert stage.rows("select key, payload::text, kind from minutehand.jobs order by key") == [
        ("a", "1", "k"), ("b", "2", "k"), ("c", "null", "k"), ("z", "0", "old"),
    ]  # fmt: skip


def test_raise_enters_nothing_where_a_key_is_taken(stage: Stage) -> None:
    stage.connection.execute("select minutehand.enqueue('old', key => 'a')")
    path = stage.file("1.ndjson", '{"kind": "k", "key": "a"}', '{"kind": "k", "key": "b"}', '{"kind": "k"}')

    with pytest.raises(
        InputError, match="1 rows of the load have a key that an upcoming job or an earlier row has"
    ):
        stage.load(path, on_conflict="raise")

    assert stage.jobs("kind") == [("old",)] and stage.rows("select * from minutehand.loads") == []


def test_a_running_job_is_not_touched_by_a_load(stage: Stage) -> None:
    stage.connection.execute("select minutehand.enqueue('old', key => 'a')")
    stage.connection.execute(
        "update minutehand.jobs_live set ack = gen_random_uuid(), claimed = now(), attempts = 1"
    )
    path = stage.file("1.ndjson", '{"kind": "new", "key": "a"}')

    assert stage.load(path).created == 1
    assert sorted(stage.jobs("kind")) == [("new",), ("old",)]


def test_jobs_come_by_the_stated_rate_and_a_row_with_its_own_moment_at_that(stage: Stage) -> None:
    start = datetime(2099, 10, 25, 0, 59, 59, tzinfo=UTC)  # clocks in Berlin go back at one
    path = stage.file("jobs.ndjson", *['{"kind": "k"}'] * 5, '{"kind": "own", "run_at": "2099-01-01T00:00Z"}')

    stage.load(path, load="rate", rate=2.0, start=start)
    found = stage.rows("select run_at from minutehand.jobs where kind = 'k' order by run_at")
    assert [at for (at,) in found] == [start + timedelta(milliseconds=500 * n) for n in range(5)]
    assert stage.rows("select date_trunc('second', run_at) from minutehand.jobs where kind = 'own'") == [
        (datetime(2099, 1, 1, tzinfo=UTC),)
    ]

    stage.connection.execute("delete from minutehand.jobs")
    stage.load(path, load="over", over=timedelta(hours=6), start=start)
    found = stage.rows("select run_at from minutehand.jobs where kind = 'k' order by run_at")
    assert [at for (at,) in found] == [start + n * timedelta(hours=1) for n in range(5)]


def test_moments_of_a_clock_change_are_refused_unless_they_are_one_moment(stage: Stage) -> None:
    path = stage.file(
        "jobs.csv", "kind,run_at", "a,2099-03-29T02:30", "b,2099-10-25T02:30", "c,2099-10-25T03:30"
    )
    naive = pa.table({"kind": ["d", "e"], "run_at": [datetime(2099, 10, 25, 2, 30), datetime(2099, 7, 1)]})
    pq.write_table(naive, stage.home / "naive.parquet")

    result = stage.load(
        path, str(stage.home / "naive.parquet"), zone="Europe/Berlin", rejects=stage.home / "rejects"
    )

    reasons = [json.loads(line)["reason"] for line in (stage.home / "rejects").read_text().splitlines()]
    assert result.created == 2
    assert ["does not exist" in reasons[0], *("comes twice" in each for each in reasons[1:])] == [
        True,
        True,
        True,
    ]
    assert stage.rows("select kind, date_trunc('minute', run_at) from minutehand.jobs order by kind") == [
        ("c", datetime(2099, 10, 25, 2, 30, tzinfo=UTC)),
        ("e", datetime(2099, 6, 30, 22, tzinfo=UTC)),
    ]


def test_a_second_run_is_told_of_the_first_and_does_nothing(stage: Stage) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}', "x")

    first = stage.load(path)
    again = stage.load(path)
    named = stage.load(path, load="another name")

    assert (first.fresh, again.fresh, again.load, again.created, again.at) == (
        True,
        False,
        first.load,
        1,
        first.at,
    )
    assert named.fresh and len(stage.jobs()) == 2
    stage.file("jobs.ndjson", '{"kind": "a"}', '{"kind": "b"}')
    assert stage.load(path).fresh  # a file that changed is another load


def test_a_dry_run_counts_and_writes_nothing(stage: Stage) -> None:
    path = stage.file(
        "jobs.ndjson", *['{"kind": "a"}'] * 3, '{"kind": "a", "key": "k"}', '{"kind": "b", "key": "k"}', "x"
    )

    result = stage.load(path, dry_run=True)

    assert (result.created, result.ignored, result.rejected) == (4, 1, 1)
    assert stage.jobs() == [] and stage.staging() == [] and stage.rows("select * from minutehand.loads") == []


@pytest.mark.parametrize("own", ["", "acme"])
def test_a_dry_run_counts_what_the_load_then_does(stage: Stage, own: str) -> None:
    stage.connection.execute("insert into minutehand.defaults (kind, queue) values ('m', 'mail')")
    if own:
        database = stage.connection.info.dbname
        stage.connection.execute(f"alter database \"{database}\" set minutehand.tenant = 'acme'")
    path = stage.file(
        "jobs.ndjson", '{"kind": "k", "key": "a"}', '{"kind": "k", "key": "a", "queue": "default"}',
        json.dumps({"kind": "k", "key": "a", "tenant": own}), '{"kind": "m", "key": "a"}',
        '{"kind": "k", "key": "a", "queue": "mail"}', '{"kind": "m", "key": "a", "queue": "default"}', "broken",
    )  # fmt: skip

    dry, done = stage.load(path, dry_run=True), stage.load(path, on_conflict="ignore")

    assert (
        (dry.created, dry.ignored, dry.rejected) == (done.created, done.ignored, done.rejected) == (2, 4, 1)
    )
    with pytest.raises(InputError, match="1 rows were rejected, and 0 may be: nothing was enqueued"):
        stage.load(path, load="dry", dry_run=True, most_rejects=0)


def test_a_load_without_rejects_leaves_what_another_one_rejected(stage: Stage) -> None:
    rejects = stage.home / "rejects"
    stage.load(stage.file("bad.ndjson", "broken"), rejects=rejects)

    assert stage.load(stage.file("good.ndjson", '{"kind": "k"}'), rejects=rejects).rejected == 0
    assert json.loads(rejects.read_text())["raw"] == "broken"


def test_defaults_of_kind_and_queue_and_the_loads_own_hold(stage: Stage) -> None:
    stage.connection.execute(
        "insert into minutehand.defaults (kind, queue, timeout, priority) values ('k', 'mail', '9 s', 3)"
    )
    stage.connection.execute(
        "insert into minutehand.queue_defaults (queue, max_attempts, priority) values ('mail', 2, 1), ('own', 4, 2)"
    )
    path = stage.file("jobs.csv", "kind,queue", ",", "k,", "k,own", "other,")

    stage.load(path, kind="k", queue=None)

    assert stage.jobs("kind, queue, priority, max_attempts, timeout") == [
        ("k", "mail", 3, 2, timedelta(seconds=9)),
        ("k", "mail", 3, 2, timedelta(seconds=9)),
        ("k", "own", 3, 4, timedelta(seconds=9)),
        ("other", "default", 5, 8, None),
    ]
    assert stage.rows("select queue, priority from minutehand.lanes order by 1, 2") == [
        ("default", 5),
        ("mail", 3),
        ("own", 3),
    ]


def test_a_process_that_encrypts_or_has_middleware_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}')
    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "handlers")

    with pytest.raises(InputError, match="use minutehand enqueue --file"):
        stage.load(path)


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"rate": 1.0, "over": timedelta(hours=1)}, "say --rate or --over, not both"),
        ({"rate": 0.0}, "a rate is above zero"),
        ({"on_conflict": "merge"}, "on_conflict of a load must be replace, ignore or raise"),
        ({"load": "x" * 201}, "a load's name has 1 to 200 characters"),
    ],
)
def test_terms_that_contradict_each_other_are_refused(
    stage: Stage, terms: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        stage.load(stage.file("jobs.ndjson", '{"kind": "a"}'), **terms)


@pytest.mark.long
def test_a_million_rows_of_parquet_are_a_million_jobs(stage: Stage) -> None:
    rows = 1_000_000
    numbers = pa.array(range(rows))
    table = pa.table(
        {
            "kind": pa.array(["k"] * rows),
            "key": numbers.cast(pa.string()),
            "payload": numbers.cast(pa.string()),
        }
    )
    pq.write_table(table, stage.home / "million.parquet", row_group_size=250_000)

    result = stage.load(str(stage.home / "million.parquet"))

    assert result.created == rows
    assert stage.rows(
        "select count(*), count(distinct key), count(distinct run_at) from minutehand.jobs"
    ) == [(rows, rows, rows)]
    assert stage.rows("select bool_and(key = payload::text), bool_and(run_at > before) from (select key, payload,"
                      " run_at, lag(run_at::timestamptz, 1, '-infinity') over (order by key::bigint) as before"
                      " from minutehand.jobs) j") == [(True, True)]  # fmt: skip
