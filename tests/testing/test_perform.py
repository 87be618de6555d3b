"""Performing one job, without the others."""

from tests.testing.project import HANDLERS, Project


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
