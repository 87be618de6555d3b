"""Travelling: tests move the time of their database forwards."""

from tests.testing.project import HANDLERS, Project


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
