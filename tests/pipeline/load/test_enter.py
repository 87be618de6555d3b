"""The SQL functions of a load follow the same rules as put_all: they create the same jobs, column by column."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from minutehand.database import Database, connect
from minutehand.errors import ForbiddenError
from tests.pipeline.load.entering import ITEMS, START, THERE, Item, enter, put, stage, staged_many
from tests.pipeline.load.stage import DETERMINISTIC
from tests.queue.logins import logins
from tests.servers import Database as Address


@pytest.mark.parametrize("on_conflict", ["replace", "ignore"])
def test_load_creates_the_same_jobs_as_put_all(new_database, on_conflict: str) -> None:
    results = []
    for way in ("put_all", "load"):
        with connect(new_database("direct-16").admin_url) as connection:
            connection.execute(THERE)
            if way == "put_all":
                counted = put(connection, ITEMS, on_conflict)
                outcome = (True, counted["created"], counted["replaced"], counted["ignored"])
            else:
                outcome = enter(connection, stage(connection, ITEMS), on_conflict)
            rows = connection.execute(
                f"select {DETERMINISTIC}, date_trunc('day', run_at) > now(), row_number() over (order by run_at, key)"
                " from minutehand.jobs order by queue, kind, key, tenant, attempts"
            ).fetchall()
            lanes = connection.execute(
                "select distinct queue, priority from minutehand.lane_changes order by 1, 2"
            ).fetchall()
            results.append((outcome, rows, lanes))

    assert results[0] == results[1]


def test_raise_rejects_the_same_loads_as_put_all(direct_database: Address) -> None:
    with connect(direct_database.admin_url) as connection:
        connection.execute(THERE)
        twice = [ITEMS[1], ITEMS[2]]
        for items, name in (
            (ITEMS, "there"),
            ([("other", "1", None, "new", *[None] * 9)] * 2, "twice"),
            (twice, "both"),
        ):
            with pytest.raises(psycopg.errors.UniqueViolation):
                put(connection, items, "raise")
            with pytest.raises(psycopg.errors.UniqueViolation):
                enter(connection, stage(connection, items, load=name), "raise")
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (4,)
        free = [("other", "1", None, "free", *[None] * 9), ("other", "1", None, None, *[None] * 9)]
        assert enter(connection, stage(connection, free, load="free"), "raise") == (True, 2, 0, 0)


def test_load_in_the_ledger_is_not_entered_again(direct_database: Address) -> None:
    with connect(direct_database.admin_url) as connection:
        assert enter(connection, stage(connection, ITEMS), "replace")[0] is True
        again = enter(connection, stage(connection, ITEMS[:1]), "replace")

        assert again == (False, 10, 0, 1)
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (10,)


def test_load_records_a_lane_whose_floor_is_later(direct_database: Address) -> None:
    with connect(direct_database.admin_url) as connection:
        connection.execute(
            "insert into minutehand.lanes (queue, priority, floor) values ('default', 5, now() + interval '1 minute')"
        )
        enter(connection, stage(connection, [("k", *[None] * 12)]), "replace")

        found = connection.execute(
            "select j.visible = c.visible from minutehand.lane_changes c, minutehand.jobs j"
        )
        assert found.fetchall() == [(True,)]


def test_database_rules_hold_without_the_checks(direct_database: Address) -> None:
    with connect(direct_database.admin_url) as connection:
        for broken, rule in [
            (("9", *[None] * 12), "kind_is_a_name"),
            (("k", None, None, "", *[None] * 9), "key_fits"),
            (("k", None, None, None, None, None, 11, *[None] * 6), "priority_is_0_to_9"),
        ]:
            with pytest.raises(psycopg.errors.CheckViolation) as refused:
                stage(connection, [broken], load=rule)
            assert refused.value.diag.constraint_name == rule
        later: list[tuple[Item, str]] = [
            (("k", None, None, None, None, None, None, None, "{}", *[None] * 4), "retry_is_a_strategy"),
            (
                ("k", None, None, None, None, None, None, None, None, 90_000.0, *[None] * 3),
                "timeout_is_positive",
            ),
            (("k", *[None] * 9, '{"a": 1}', None, None), "headers_are_strings"),
            (("k", None, None, None, None, 1e12, *[None] * 7), "time_is_finite"),
        ]
        for item, rule in later:
            with pytest.raises(psycopg.Error) as failed:
                enter(connection, stage(connection, [item], load=rule), "replace")
            assert failed.value.diag.constraint_name in (rule, None)
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (0,)


STEPS = [
    "begin_load('l', gen_random_uuid())",
    "enqueue_load('l', gen_random_uuid(), '{}', '{}', '{}', 'replace', 0, 0)",
    "end_load(gen_random_uuid())",
]


def test_only_operators_can_load(direct_database: Address) -> None:
    with logins(direct_database) as login:
        with login("operator").transaction() as connection:
            assert enter(connection, stage(connection, ITEMS[:2]), "replace") == (True, 2, 0, 0)
            connection.execute("select minutehand.end_load(run) from minutehand.load_runs")
        for role in ("enqueuer", "worker", "tenant"):
            database: Database = login(role)
            for step in STEPS:
                with pytest.raises(ForbiddenError), database.transaction() as connection:
                    connection.execute(f"select minutehand.{step}")


def test_tenant_session_loads_only_its_own_jobs(direct_database: Address) -> None:
    with connect(direct_database.admin_url) as connection:
        for tenant, allowed in (("acme", True), ("other", False)):
            with connection.transaction():
                connection.execute("select set_config('minutehand.tenant', %s, true)", ["acme"])
                staged = stage(connection, [("k", *[None] * 11, tenant), ("k", *[None] * 12)], load=tenant)
                if not allowed:
                    with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
                        enter(connection, staged, "replace")
                else:
                    enter(connection, staged, "replace")
        assert connection.execute("select tenant, count(*) from minutehand.jobs group by 1").fetchall() == [
            ("acme", 2)
        ]


@pytest.mark.parametrize(
    ("spread", "last"),
    [
        (timedelta(milliseconds=1), 3000),  # at least a microsecond apart
        (timedelta(microseconds=5001), 4999),
        (timedelta(days=300), 300 * 86_400 * 10**6 * 3000 // 3001),
    ],
)
def test_load_is_spread_evenly_and_in_order(direct_database: Address, spread: timedelta, last: int) -> None:
    with connect(direct_database.admin_url) as connection:
        connection.execute("set timezone to 'Europe/Berlin'")  # where days differ in length
        connection.execute(
            f"select minutehand.enqueue_load({', '.join(['%s'] * 10)})",
            [*staged_many(connection, 3001).values(), spread],
        )
        found = connection.execute(
            "select count(distinct visible), min(visible), round(1e6 * extract(epoch from max(visible) - %s))"
            " from minutehand.jobs",
            [START],
        ).fetchone()

    assert found is not None and found[:2] == (3001, START)
    assert abs(found[2] - last) <= 1


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({1: '"' + "x" * 262_143 + '"'}, "payload_fits"),
        ({5: -1.0}, "delay_is_not_negative"),
        ({4: "2099-01-01 00:00+00", 5: 1.0}, "run_at_or_delay"),
    ],
)
def test_load_and_put_all_report_the_same_errors(
    direct_database: Address, change: dict[int, Any], rule: str
) -> None:
    item = tuple(change.get(place, value) for place, value in enumerate(("k", *[None] * 12)))
    errors = []
    with connect(direct_database.admin_url) as connection:
        for way in (put, lambda *call: enter(connection, stage(*call[:2]), call[2])):
            with pytest.raises(psycopg.errors.CheckViolation) as refused:
                way(connection, [item], "replace")
            errors.append((refused.value.diag.constraint_name, refused.value.diag.message_primary))
        fits = ("k", '"' + "x" * 262_142 + '"', *[None] * 11)
        assert enter(connection, stage(connection, [fits], load="fits"), "replace")[0]

    assert errors[0] == errors[1] and errors[0][0] == rule
