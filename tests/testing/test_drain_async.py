"""Draining async jobs, which run at the same time."""

from tests.testing.project import HANDLERS, Project


def test_drain_runs_async_jobs_at_the_same_time(project: Project) -> None:
    project.write(
        **HANDLERS,
        test_it="""
            import asyncio
            from datetime import timedelta
            import pytest
            from minutehand import Retry, enqueue

            LIMIT = timedelta(seconds=60)

            class Meeting:
                def __init__(self, size):
                    self.size, self.inside, self.complete = size, [], asyncio.Event()

                async def attend(self, payload):
                    self.inside.append(payload)
                    if len(self.inside) == self.size:
                        self.complete.set()
                    await self.complete.wait()
                    return payload

            def test_ten_jobs_are_inside_at_once(queue):
                for n in range(10):
                    enqueue("meet", n, timeout=LIMIT)
                drained = queue.drain(handlers={"meet": Meeting(10).attend})
                assert [attempt.result for attempt in drained] == [*range(10)]

            def test_other_jobs_run_in_their_turn(queue):
                steps = []
                async def meet(payload):
                    await meeting.attend(payload)
                    steps.append(payload)
                meeting = Meeting(2)
                for n, kind in enumerate(["plain", "meet", "meet", "plain", "plain"]):
                    enqueue(kind, n, timeout=LIMIT)
                queue.drain(handlers={"meet": meet, "plain": steps.append})
                assert (steps[0], sorted(steps[1:3]), steps[3:]) == (0, [1, 2], [3, 4])

            def test_error_of_one_of_them_is_raised(queue):
                async def meet(payload):
                    await meeting.attend(payload)
                    if payload == 1:
                        raise ZeroDivisionError
                meeting = Meeting(3)
                # Not due again while the test runs.
                hourly = Retry(strategy="fixed", min=timedelta(hours=1), jitter=False)
                for n in range(3):
                    enqueue("meet", n, timeout=LIMIT, retry=hourly)
                with pytest.raises(ZeroDivisionError):
                    queue.drain(handlers={"meet": meet})
                assert [job.state for job in queue.jobs()] == ["done", "retrying", "done"]

            async def late(payload):
                await asyncio.Event().wait()

            def test_job_out_of_time_fails_the_test(queue):
                from minutehand.testing import AttemptFailed
                enqueue("late", timeout=timedelta(milliseconds=50))
                with pytest.raises(AttemptFailed, match="OutOfTime: the attempt ran out of time"):
                    queue.drain(handlers={"late": late})

            def test_transaction_of_an_async_job_is_committed(queue):
                async def book(payload, job):
                    async with job.transaction() as connection:
                        await connection.execute("create table booked (n int)")
                assert queue.perform("book", handlers={"book": book}).ending == "done"
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 5}, ran.text
