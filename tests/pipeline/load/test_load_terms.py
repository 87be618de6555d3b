"""The terms of a load: rate, start, defaults and dry runs."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minutehand_pipeline.errors import InputError, LoadError
from tests.pipeline.load.stage import Stage


def test_rate_and_over_spread_rows_without_run_at(stage: Stage) -> None:
    start = datetime(2099, 10, 25, 0, 59, 59, tzinfo=UTC)  # clocks in Berlin go back at 01:00
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


def test_ambiguous_local_times_are_rejected(stage: Stage) -> None:
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
    assert ["does not exist" in reasons[0], *("is ambiguous" in each for each in reasons[1:])] == [
        True,
        True,
        True,
    ]
    assert stage.rows("select kind, date_trunc('minute', run_at) from minutehand.jobs order by kind") == [
        ("c", datetime(2099, 10, 25, 2, 30, tzinfo=UTC)),
        ("e", datetime(2099, 6, 30, 22, tzinfo=UTC)),
    ]


def test_dry_run_counts_and_writes_nothing(stage: Stage) -> None:
    path = stage.file(
        "jobs.ndjson", *['{"kind": "a"}'] * 3, '{"kind": "a", "key": "k"}', '{"kind": "b", "key": "k"}', "x"
    )

    result = stage.load(path, dry_run=True)

    assert (result.created, result.ignored, result.rejected) == (4, 1, 1)
    assert stage.jobs() == [] and stage.staging() == [] and stage.rows("select * from minutehand.loads") == []


@pytest.mark.parametrize("own", ["", "acme"])
def test_dry_run_counts_match_the_load(stage: Stage, own: str) -> None:
    stage.connection.execute("insert into minutehand.defaults (kind, queue) values ('m', 'mail')")
    if own:
        database = stage.connection.info.dbname
        stage.connection.execute(f"alter database \"{database}\" set minutehand.tenant = 'acme'")
    path = stage.file(
        "jobs.ndjson",
        '{"kind": "k", "key": "a"}',
        '{"kind": "k", "key": "a", "queue": "default"}',
        json.dumps({"kind": "k", "key": "a", "tenant": own}),
        '{"kind": "m", "key": "a"}',
        '{"kind": "k", "key": "a", "queue": "mail"}',
        '{"kind": "m", "key": "a", "queue": "default"}',
        "broken",
    )

    dry, done = stage.load(path, dry_run=True), stage.load(path, on_conflict="ignore")

    assert (
        (dry.created, dry.ignored, dry.rejected) == (done.created, done.ignored, done.rejected) == (2, 4, 1)
    )
    with pytest.raises(
        LoadError, match="1 rows were rejected, but at most 0 are allowed: nothing was enqueued"
    ):
        stage.load(path, load="dry", dry_run=True, max_rejects=0)


def test_defaults_of_kind_and_queue_apply(stage: Stage) -> None:
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
    assert stage.rows("select distinct queue, priority from minutehand.lane_changes order by 1, 2") == [
        ("default", 5),
        ("mail", 3),
        ("own", 3),
    ]


def test_load_rejects_encryption_and_middleware(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stage.file("jobs.ndjson", '{"kind": "a"}')
    monkeypatch.setenv("MINUTEHAND_MIDDLEWARE", "handlers")

    with pytest.raises(InputError, match="use minutehand enqueue --file"):
        stage.load(path)


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"rate": 1.0, "over": timedelta(hours=1)}, "expected --rate or --over, got both"),
        ({"rate": 0.0}, "rate must be above 0"),
        ({"on_conflict": "merge"}, "on_conflict must be one of replace, ignore, raise"),
        ({"load": "x" * 201}, "a load's name must have 1 to 200 characters"),
    ],
)
def test_contradictory_terms_are_rejected(stage: Stage, terms: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        stage.load(stage.file("jobs.ndjson", '{"kind": "a"}'), **terms)
