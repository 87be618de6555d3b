"""The clock that tests move is that of all functions of the database."""

from contextlib import closing
from datetime import UTC, datetime

from minutehand import Database, enqueue
from minutehand.testing.statements import run


def test_checks_of_predecessors_are_made_after_travelling(url_with_clock: str) -> None:
    with closing(Database(url_with_clock)) as database:
        run(database, "travel", to=datetime(2040, 1, 1, tzinfo=UTC))
        first = enqueue("task", connection=database)
        enqueue("task", after=[first], connection=database)

        made = database.connection.execute("select minutehand.check_predecessors(10)").fetchone()
        left = database.connection.execute("select count(*) from minutehand.predecessor_checks").fetchone()

    assert (made, left) == ((1,), (0,))
