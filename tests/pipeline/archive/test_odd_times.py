"""Times that the lake cannot store do not stop an archive."""

from collections.abc import Iterator
from datetime import date

import pytest

from minutehand.database import Database
from minutehand_pipeline.archive.closing import list_days
from minutehand_pipeline.archive.private import Subjects
from minutehand_pipeline.archive.sums import sum_database
from minutehand_pipeline.queue.ranges import Pages
from minutehand_pipeline.schemas import HOMES
from tests import servers

DAY = date(2020, 2, 29)


@pytest.fixture
def database(direct_database: servers.Database) -> Iterator[Database]:
    database = Database(direct_database.url)
    yield database
    database.close()


@pytest.mark.parametrize("time", ["-infinity", "0044-03-15 12:00+00 BC"])
def test_rows_before_the_year_1_are_reported_and_left_out(
    database: Database, caplog: pytest.LogCaptureFixture, time: str
) -> None:
    events = "insert into minutehand.events (name, at) values ('odd', %s), ('usual', %s)"
    database.connection.execute(events, (time, f"{DAY} 12:00+00"))

    days = [day.day for day in list_days(database, HOMES["events"], None, None)]

    assert DAY in days
    assert min(days) == DAY
    assert "events has rows whose column at is before the year 1" in caplog.text


def test_row_of_the_year_1_is_on_a_day(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    database.connection.execute(
        "insert into minutehand.events (name, at) values ('old', '0001-01-01 00:00+00')"
    )

    assert list_days(database, HOMES["events"], None, None)[0].day == date(1, 1, 1)
    assert not caplog.text


@pytest.mark.parametrize("time", ["infinity", "-infinity"])
def test_infinite_times_of_a_row_are_summed_as_null(database: Database, time: str) -> None:
    home = HOMES["jobs_done"]
    database.connection.execute(
        "insert into minutehand.jobs (id, kind, enqueued, claimed, deleted) values (%s, 'odd', %s, %s, %s)",
        ("00000000-0000-0000-0000-000000000001", time, time, f"{DAY} 12:00+00"),
    )

    with database.transaction() as connection:
        sums = sum_database(connection, home, DAY, Pages("jobs_done_default", 0, None), Subjects())

    assert sums.rows == 1


def test_infinite_start_of_an_attempt_is_summed_as_null(database: Database) -> None:
    database.connection.execute(
        "insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome)"
        " values (gen_random_uuid(), 1, 'infinity', %s, 'default', 'odd', 'done')",
        (f"{DAY} 12:00+00",),
    )

    with database.transaction() as connection:
        sums = sum_database(
            connection, HOMES["attempts"], DAY, Pages("attempts_default", 0, None), Subjects()
        )

    assert sums.rows == 1
