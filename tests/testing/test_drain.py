"""Draining: all due jobs run with the real claim and finish."""

from tests.testing.project import HANDLERS, Project


def test_drain_runs_handlers_until_no_job_is_due(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            from datetime import timedelta
            from minutehand import enqueue
            from handlers import welcome

            def test_it(queue):
                enqueue("welcome", {"email": "ada@example.com"})
                enqueue("welcome", {"email": "bob@example.com"}, queue="other")
                enqueue("welcome", {"email": "eve@example.com"}, delay=timedelta(days=3))

                drained = queue.drain()

                assert drained.counts == {"done": 2}
                assert sorted(welcome.letters) == ["ada@example.com", "bob@example.com"]
                assert drained[0].job.state == "done" and drained[0].result == {"sent": "ada@example.com"}
                assert queue.assert_enqueued("welcome").state == "scheduled"
                assert queue.drain() == ()
                queue.travel(by=timedelta(days=3))
                assert queue.drain().counts == {"done": 1}
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 1}, ran.text


def test_drain_raises_handler_errors_after_recording_them(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            import asyncio
            from datetime import timedelta
            import pytest
            from minutehand import Retry, enqueue

            # Not due again while the test runs.
            RETRY = Retry(strategy="fixed", min=timedelta(hours=1), jitter=False)

            def test_handler_error_can_be_caught(queue):
                enqueue("broken", retry=RETRY)
                with pytest.raises(ZeroDivisionError):
                    queue.drain()
                assert queue.assert_enqueued("broken").state == "retrying"

            def test_handler_error_is_in_the_result(queue):
                enqueue("broken", max_attempts=1)
                enqueue("broken", retry=RETRY)
                drained = queue.drain(raising=False)
                assert drained.counts == {"dead": 1, "retrying": 1}
                assert drained[0].error["type"] == "ZeroDivisionError"
                assert isinstance(drained[0].exception, ZeroDivisionError)

            def test_error_after_the_transaction_is_raised(queue):
                def handle(payload, job):
                    with job.transaction():
                        pass
                    raise ZeroDivisionError
                enqueue("broken")
                with pytest.raises(ZeroDivisionError):
                    queue.drain(handlers={"broken": handle})
                assert queue.jobs()[0].state == "done"

            async def handle_later(payload):
                return payload

            def test_async_handler_runs_in_an_async_test(queue):
                async def test():
                    return queue.perform("later", 5, handlers={"later": handle_later}).result
                assert asyncio.run(test()) == 5

            def test_handler_error_fails_the_test(queue):
                enqueue("broken", {"n": 1}, retry=RETRY)
                queue.drain()
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 4, "failed": 1}, ran.text
    assert "handlers/broken.py:3: ZeroDivisionError" in ran.text
    assert "raised in attempt 1 of broken (retrying at" in ran.text


def test_drain_stops_at_its_limit_and_names_missing_handlers(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            from datetime import timedelta
            import pytest
            from minutehand import Snooze, UnknownKindError, enqueue
            from minutehand.testing import AttemptFailed, StillDue

            def test_endless_snooze_stops_at_the_limit(queue):
                def handle(payload):
                    raise Snooze(timedelta())
                enqueue("doze")
                with pytest.raises(StillDue, match="still due after 7 attempts.* the latest was snoozed: doze"):
                    queue.drain(limit=7, handlers={"doze": handle})
                assert queue.assert_enqueued("doze").state == "due"

            def test_limit_may_be_reached(queue):
                enqueue("doze")
                enqueue("doze")
                assert len(queue.drain(limit=2, handlers={"doze": lambda payload: None})) == 2

            def test_missing_handler_is_named(queue):
                enqueue("nobody.knows")
                with pytest.raises(UnknownKindError, match="no handler for kind nobody.knows; expected"):
                    queue.drain()
                assert queue.assert_enqueued("nobody.knows").attempts == 0

            def test_system_exit_fails_the_attempt(queue):
                def handle(payload):
                    raise SystemExit(3)
                enqueue("leave")
                with pytest.raises(AttemptFailed, match="SystemExit: 3 in attempt 1 of leave"):
                    queue.drain(handlers={"leave": handle})

            def test_timeout_fails_the_attempt(queue):
                def handle(payload):
                    while True:
                        pass
                enqueue("long", timeout=timedelta(milliseconds=50))
                with pytest.raises(AttemptFailed, match="OutOfTime"):
                    queue.drain(handlers={"long": handle})

            def test_invalid_result_is_in_the_error(queue):
                enqueue("long")
                (attempt,) = queue.drain(handlers={"long": lambda payload: object()})
                assert attempt.ending == "done" and attempt.error["type"] == "ResultError"
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 6}, ran.text


def test_drain_finds_stored_jobs_and_keeps_other_settings(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            import signal
            import pytest
            from minutehand import enqueue

            def test_row_inserted_in_sql_is_run(queue, minutehand_database):
                minutehand_database.connection.execute("insert into minutehand.jobs (kind) values ('hand')")
                assert queue.drain(handlers={"hand": lambda payload: None}).counts == {"done": 1}

            def test_one_queue_is_drained(queue):
                enqueue("hand", queue="one")
                enqueue("hand", queue="two")
                (attempt,) = queue.drain(queue="two", handlers={"hand": lambda payload: None})
                assert attempt.job.queue == "two" and queue.assert_enqueued("hand").queue == "one"
                assert queue.drain(handlers={"hand": lambda payload: None}).of("hand").counts == {"done": 1}

            def test_other_alarm_is_restored(queue):
                enqueue("hand")
                signal.setitimer(signal.ITIMER_REAL, 1000)
                queue.drain(handlers={"hand": lambda payload: None})
                assert 900 < signal.setitimer(signal.ITIMER_REAL, 0)[0] <= 1000

            def test_keyboard_interrupt_ends_the_drain(queue):
                def handle(payload):
                    raise KeyboardInterrupt
                enqueue("hand")
                with pytest.raises(KeyboardInterrupt):
                    queue.drain(raising=False, handlers={"hand": handle})

            def test_expectation_in_a_handler_fails_the_test(queue):
                def handle(payload):
                    pytest.fail("it was not expected to be called")
                enqueue("hand")
                with pytest.raises(pytest.fail.Exception, match="not expected"):
                    queue.drain(handlers={"hand": handle})
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 5}, ran.text
