"""Processes that are killed in the mode `prompt` after their commit: the next tick offers their job."""

from datetime import timedelta

import pytest
from proving import Post, Sessions, pass_time, settings, sql, states
from test_kill import process, read_report, work

from minutehand import Database
from minutehand.tick import tick
from tests import servers

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

MINUTE = timedelta(minutes=1)
SHORT = """select bool_and(visible <= coalesce(offered, enqueued) + interval '46 seconds') from minutehand.jobs_live"""


@pytest.fixture
def db(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> Database:
    for name, value in {
        "MINUTEHAND_MODE": "prompt",
        "MINUTEHAND_WORKER": "worker",
        "MINUTEHAND_DISPATCHER": "dispatcher",
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        # Nothing answers there.
        "AWS_ENDPOINT_URL_LAMBDA": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    db = sessions()
    sql(db, "create table effects (job uuid)")
    # The capacity is that of the last tick.
    tick(db, Post(), settings())
    return db


@pytest.mark.parametrize(("point", "state"), [("committed", "due"), ("offered", "offered")])
def test_job_of_a_killed_enqueuer_starts_at_the_next_tick(
    database: servers.Database, db: Database, point: str, state: str
) -> None:
    with process("enqueuer", database.url, point) as enqueuer:
        assert read_report(enqueuer)["at"] == point
    assert states(db) == {state: 1}
    pass_time(db, MINUTE)
    post = Post()

    assert len(tick(db, post, settings()).offered.offers) == 1
    assert work(db, post.events[0]) == ["done"]
    assert sql(db, "select count(*) from effects") == [(1,)]


@pytest.mark.parametrize("point", ["committed", "offered"])
def test_killed_enqueuers_use_up_no_capacity_for_long(
    database: servers.Database, db: Database, point: str
) -> None:
    """Two dispatchers tick at once: each job is offered once."""
    for _ in range(3):
        with process("enqueuer", database.url, point) as enqueuer:
            read_report(enqueuer)
    assert sql(db, SHORT) == [(True,)]
    pass_time(db, MINUTE)
    posts, other = (Post(), Post()), Database(database.url)

    for each, post in zip((db, other), posts, strict=True):
        tick(each, post, settings())

    assert [len(post.events) for post in posts] == [3, 0]
    other.close()
