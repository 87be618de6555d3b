"""Expectations about enqueued jobs, and the messages of failed ones."""

from tests.testing.project import Project


def test_expectation_finds_jobs_by_any_attribute(serverless_project: Project) -> None:
    serverless_project.write(
        test_it="""
            from dataclasses import dataclass
            from datetime import datetime, timezone
            from unittest.mock import ANY
            import pytest
            from minutehand import enqueue

            @dataclass
            class Order:
                number: int
                lines: list[str]

            def test_it(queue):
                eight = datetime(2040, 1, 31, 8, tzinfo=timezone.utc)
                enqueue("order.ship", Order(4711, ["tea", "milk"]), queue="shipping", key="order/4711",
                        run_at=eight, headers={"request": "b7e1", "via": "test"})
                enqueue("order.ship", Order(4712, ["tea"]))

                row = queue.assert_enqueued("order.ship", {"number": 4711})
                assert row.payload == {"number": 4711, "lines": ["tea", "milk"]} and row.run_at == eight
                assert queue.assert_enqueued("order.ship", Order(4711, ["tea", "milk"])) == row
                assert queue.assert_enqueued("order.ship", {"number": ANY, "lines": ["tea", ANY]}) == row
                assert queue.assert_enqueued(queue="shipping") == row
                assert queue.assert_enqueued(key="order/4711") == row
                assert queue.assert_enqueued(run_at=eight, headers={"request": "b7e1"}) == row
                assert [row.payload["number"] for row in queue.enqueued("order.ship")] == [4711, 4712]
                assert len(queue.enqueued()) == 2 == len(queue.jobs("order.ship"))
                queue.refute_enqueued("order.cancel")
                queue.refute_enqueued("order.ship", {"number": 4713})
                queue.refute_enqueued("order.ship", {"number": 4712, "lines": []})

            def test_nothing_is_left_of_the_test_before(queue, minutehand_database):
                assert queue.jobs() == []
                found = minutehand_database.connection.execute("select datname from pg_database").fetchall()
                assert len([name for (name,) in found if name.startswith("minutehand_")]) == 2
        """,
    )
    ran = serverless_project.test()

    assert ran.outcomes == {"passed": 2}, ran.text


def test_failing_expectation_shows_the_differences(project: Project) -> None:
    project.write(
        test_it="""
            from datetime import timedelta
            from minutehand import enqueue

            def test_another_payload(queue):
                enqueue("welcome", {"email": "bob@example.com", "to": {"name": "Bob"}}, key="welcome/bob")
                enqueue("report", delay=timedelta(days=1))
                queue.assert_enqueued("welcome", {"email": "ada@example.com", "to": {"title": "Dr"}})

            def test_nothing(queue):
                queue.assert_enqueued("welcome")

            def test_two(queue):
                enqueue("welcome", {"n": 1})
                enqueue("welcome", {"n": 2})
                queue.assert_enqueued("welcome")

            def test_done(queue):
                enqueue("welcome")
                queue.drain(handlers={"welcome": lambda payload: None})
                queue.assert_enqueued("welcome")

            def test_unwanted(queue):
                enqueue("welcome", {"n": 1})
                queue.refute_enqueued("welcome")
        """,
    )
    ran = project.test("--tb=short")

    assert ran.outcomes == {"failed": 5}, ran.text
    for line in [
        'a job with kind "welcome", payload {"email": "ada@example.com", "to": {"title": "Dr"}} is not enqueued;',
        'welcome (due, queue \'default\', key \'welcome/bob\') {"email": "bob@example.com", "to": {"name": "Bob"}}',
        'payload.email is "bob@example.com", not "ada@example.com"',
        "payload.to has no 'title'",
        'kind is "report", not "welcome"',
        'a job with kind "welcome" is not enqueued; no job is.',
        'a job with kind "welcome" is enqueued 2 times, expected once:',
        'a job with kind "welcome" is no longer enqueued:',
        "welcome (done, queue 'default') null",
        'a job with kind "welcome" is enqueued but should not be:',
    ]:
        assert line in ran.text
    assert "job_queue.py" not in ran.text, "the trace begins in the user's test"


def test_expectation_sees_jobs_of_a_transaction(project: Project) -> None:
    project.write(
        test_it="""
            import os
            import psycopg
            from minutehand import enqueue

            def sign_up(connection):
                connection.execute("create table if not exists customers (email text)")
                connection.execute("insert into customers values ('ada@example.com')")
                enqueue("welcome", {"email": "ada@example.com"}, connection=connection)

            def test_committed(queue):
                with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
                    sign_up(connection)
                    queue.refute_enqueued("welcome")
                    assert queue.within(connection).assert_enqueued("welcome").state == "due"
                drained = queue.drain(handlers={"welcome": lambda payload: payload["email"]})
                assert drained[0].result == "ada@example.com"

            def test_rolled_back(queue, minutehand_database):
                with psycopg.connect(minutehand_database.url) as connection:
                    sign_up(connection)
                    inside = queue.within(connection)
                    assert inside.drain(handlers={"welcome": lambda payload: None}).counts == {"done": 1}
                    connection.rollback()
                assert queue.jobs() == []
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 2}, ran.text


def test_ambient_enqueue_uses_the_test_database(
    project: Project,
) -> None:
    project.write(
        test_it="""
            import asyncio
            from concurrent.futures import ThreadPoolExecutor
            import pytest
            from minutehand import enqueue

            pool = ThreadPoolExecutor(1)

            @pytest.mark.parametrize("turn", range(3))
            def test_a_thread_that_outlives_the_test(queue, turn):
                pool.submit(enqueue, "welcome", turn).result()
                assert [row.payload for row in queue.enqueued()] == [turn]

            @pytest.fixture
            def another(minutehand_databases, monkeypatch):
                with minutehand_databases.clone() as url:
                    monkeypatch.setenv("DATABASE_URL", url)
                    enqueue("before")
                    yield

            def test_what_was_open_before(another, queue):
                enqueue("welcome")
                assert queue.assert_enqueued().kind == "welcome"

            def test_async(queue):
                async def main():
                    await asyncio.to_thread(enqueue, "welcome", 1)
                    return await asyncio.to_thread(queue.drain, handlers={"welcome": lambda payload: payload})
                assert asyncio.run(main()).counts == {"done": 1}
        """,
    )
    ran = project.test("-W", "error")

    assert ran.outcomes == {"passed": 5}, ran.text
