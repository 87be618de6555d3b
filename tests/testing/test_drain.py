"""Draining: a user's handlers are worked off with the real claim and finish, and time passes on order."""

from tests.testing.project import Project

HANDLERS = {
    "handlers__welcome": """
        from dataclasses import dataclass

        letters = []

        @dataclass
        class Welcome:
            email: str

        def handle(payload: Welcome):
            letters.append(payload.email)
            return {"sent": payload.email}
    """,
    "handlers__broken": """
        def handle(payload):
            raise ZeroDivisionError("the handler divides by zero")
    """,
    "handlers__daily": """
        from datetime import timedelta
        from minutehand import enqueue

        def handle(payload, job):
            enqueue("daily", {"day": payload["day"] + 1}, key="daily", delay=timedelta(days=1))
    """,
}


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
            import pytest
            from minutehand import enqueue

            def test_it_is_caught(queue):
                enqueue("broken")
                with pytest.raises(ZeroDivisionError):
                    queue.drain()
                assert queue.assert_enqueued("broken").state == "retrying"

            def test_it_is_looked_at(queue):
                enqueue("broken", max_attempts=1)
                enqueue("broken")
                drained = queue.drain(raising=False)
                assert drained.counts == {"dead": 1, "retrying": 1}
                assert drained[0].error["type"] == "ZeroDivisionError"
                assert isinstance(drained[0].exception, ZeroDivisionError)

            def test_it_fails(queue):
                enqueue("broken", {"n": 1})
                queue.drain()
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 2, "failed": 1}, ran.text
    assert "handlers/broken.py:3: ZeroDivisionError" in ran.text
    assert "raised in attempt 1 of broken (retrying at" in ran.text


def test_travel_advances_delays_retries_and_snoozes(
    project: Project,
) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            from datetime import datetime, timedelta, timezone
            import pytest
            from minutehand import ConfigurationError, Database, InvalidJobError, Retry, Snooze, enqueue
            from minutehand.testing import JobQueue

            def test_a_retry(queue):
                enqueue("broken", retry=Retry(strategy="fixed", min=timedelta(hours=1), jitter=False), max_attempts=2)
                assert queue.drain(raising=False).counts == {"retrying": 1}
                assert queue.drain(raising=False) == ()
                queue.travel(by=timedelta(minutes=59))
                assert queue.drain(raising=False) == ()
                queue.travel(by=timedelta(minutes=2))
                assert queue.drain(raising=False).counts == {"dead": 1}

            def test_a_snooze_counts_from_the_moment_that_was_travelled_to(queue):
                def handle(payload, job):
                    lateness.append(job.lateness)
                    if len(lateness) == 1:
                        raise Snooze(timedelta(hours=1))
                lateness = []
                eight = datetime(2040, 1, 31, 8, tzinfo=timezone.utc)
                enqueue("doze", run_at=eight)
                assert queue.drain() == ()
                assert queue.drain(at=eight, handlers={"doze": handle}).counts == {"snoozed": 1}
                assert queue.drain(at=eight + timedelta(minutes=59), handlers={"doze": handle}) == ()
                (dozed,) = queue.drain(at=eight + timedelta(minutes=61), handlers={"doze": handle})
                assert dozed.ending == "done" and dozed.job.run_at == eight
                assert timedelta() <= lateness[0] < timedelta(minutes=1)
                assert dozed.job.claimed >= eight and dozed.job.deleted >= eight + timedelta(minutes=60)

            def test_a_job_that_enqueues_itself_runs_once_a_day(queue):
                enqueue("daily", {"day": 0}, key="daily")
                for day in range(3):
                    assert queue.drain().counts == {"done": 1}
                    assert queue.assert_enqueued("daily", key="daily").payload == {"day": day + 1}
                    queue.travel(by=timedelta(days=1))

            def test_a_moment_in_python_is_that_moment_after_travelling(queue):
                queue.travel(to=datetime(2040, 1, 30, tzinfo=timezone.utc))
                eight = datetime(2040, 1, 31, 8, tzinfo=timezone.utc)
                enqueue("doze", run_at=eight)
                assert queue.assert_enqueued(run_at=eight).state == "scheduled"
                enqueue("rest", delay=timedelta(hours=1))
                assert (queue.assert_enqueued("rest").run_at - queue.now).total_seconds() > 3500

            def test_time_does_not_go_back(queue):
                with pytest.raises(InvalidJobError):
                    queue.travel(by=timedelta(hours=-1))

            def test_who_cannot_see_the_clock_is_told(queue, minutehand_database):
                blind = JobQueue(Database(minutehand_database.url + "?options=-csearch_path%3Dpublic"), {})
                with pytest.raises(ConfigurationError, match="search_path"):
                    blind.travel(by=timedelta(hours=1))

            def test_the_next_test_has_the_real_time(queue):
                assert abs(queue.now - datetime.now(timezone.utc)) < timedelta(minutes=1)
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 7}, ran.text


def test_drain_stops_at_its_limit_and_names_missing_handlers(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            from datetime import timedelta
            import pytest
            from minutehand import Snooze, UnknownKindError, enqueue
            from minutehand.testing import AttemptFailed, StillDue

            def test_endless(queue):
                def handle(payload):
                    raise Snooze(timedelta())
                enqueue("doze")
                with pytest.raises(StillDue, match="7 attempts were made .* the latest was snoozed: doze"):
                    queue.drain(most=7, handlers={"doze": handle})
                assert queue.assert_enqueued("doze").state == "due"

            def test_as_many_as_the_bound(queue):
                enqueue("doze")
                enqueue("doze")
                assert len(queue.drain(most=2, handlers={"doze": lambda payload: None})) == 2

            def test_unknown(queue):
                enqueue("nobody.knows")
                with pytest.raises(UnknownKindError, match="no file nobody/knows.py among the handlers"):
                    queue.drain()
                assert queue.assert_enqueued("nobody.knows").attempts == 0

            def test_leaving(queue):
                def handle(payload):
                    raise SystemExit(3)
                enqueue("leave")
                with pytest.raises(AttemptFailed, match="SystemExit: 3 in attempt 1 of leave"):
                    queue.drain(handlers={"leave": handle})

            def test_out_of_time(queue):
                def handle(payload):
                    while True:
                        pass
                enqueue("long", timeout=timedelta(milliseconds=50))
                with pytest.raises(AttemptFailed, match="OutOfTime"):
                    queue.drain(handlers={"long": handle})

            def test_a_result_that_does_not_fit(queue):
                enqueue("long")
                (attempt,) = queue.drain(handlers={"long": lambda payload: {1, 2}})
                assert attempt.ending == "done" and attempt.error["type"] == "ResultError"
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 6}, ran.text


def test_perform_runs_one_job_with_a_stored_row(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            import pytest
            from datetime import timedelta
            from minutehand import Cancel, Fail, enqueue

            def test_well(queue):
                enqueue("broken")
                attempt = queue.perform("welcome", {"email": "ada@example.com"}, delay=timedelta(days=9))
                assert (attempt.ending, attempt.result) == ("done", {"sent": "ada@example.com"})
                assert attempt.job.attempts == 1 and attempt.job.state == "done"
                assert queue.assert_enqueued("broken").attempts == 0

            def test_badly(queue):
                with pytest.raises(ZeroDivisionError):
                    queue.perform("broken")

            def test_on_purpose(queue):
                def fail(payload, job):
                    raise Fail("no such invoice")
                def cancel(payload, job):
                    raise Cancel("not wanted")
                with pytest.raises(Fail):
                    queue.perform("fail", handlers={"fail": fail})
                assert queue.perform("fail", raising=False, handlers={"fail": fail}).job.state == "dead"
                assert queue.perform("cancel", handlers={"cancel": cancel}).ending == "cancelled"

            def test_a_payload_of_another_type(queue):
                attempt = queue.perform("welcome", {"mail": 1}, raising=False)
                assert attempt.ending == "dead" and attempt.error["type"] == "MismatchError"

            def test_a_transaction(queue, minutehand_database):
                minutehand_database.connection.execute("create table transfers (amount int)")
                def handle(payload, job):
                    with job.transaction() as connection:
                        connection.execute("insert into transfers values (1)")
                assert queue.perform("transfer", handlers={"transfer": handle}).ending == "done"
                assert minutehand_database.connection.execute("table transfers").fetchall() == [(1,)]
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 5}, ran.text


def test_drain_finds_stored_jobs_and_keeps_other_settings(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            import signal
            import pytest
            from minutehand import enqueue

            def test_a_row_that_was_inserted_by_hand(queue, minutehand_database):
                minutehand_database.connection.execute("insert into minutehand.jobs (kind) values ('hand')")
                assert queue.drain(handlers={"hand": lambda payload: None}).counts == {"done": 1}

            def test_one_queue_of_several(queue):
                enqueue("hand", queue="one")
                enqueue("hand", queue="two")
                (attempt,) = queue.drain(queue="two", handlers={"hand": lambda payload: None})
                assert attempt.job.queue == "two" and queue.assert_enqueued("hand").queue == "one"
                assert queue.drain(handlers={"hand": lambda payload: None}).of("hand").counts == {"done": 1}

            def test_an_alarm_of_somebody_else(queue):
                enqueue("hand")
                signal.setitimer(signal.ITIMER_REAL, 1000)
                queue.drain(handlers={"hand": lambda payload: None})
                assert 900 < signal.setitimer(signal.ITIMER_REAL, 0)[0] <= 1000

            def test_an_interrupt_by_hand_ends_the_run_even_where_failures_do_not(queue):
                def handle(payload):
                    raise KeyboardInterrupt
                enqueue("hand")
                with pytest.raises(KeyboardInterrupt):
                    queue.drain(raising=False, handlers={"hand": handle})

            def test_an_expectation_in_a_handler(queue):
                def handle(payload):
                    pytest.fail("it was not expected to be called")
                enqueue("hand")
                with pytest.raises(pytest.fail.Exception, match="not expected"):
                    queue.drain(handlers={"hand": handle})
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 5}, ran.text
