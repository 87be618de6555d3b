"""Conformance tests: the behavior that minutehand requires of a server, as a specification to read and run.

    MINUTEHAND_TEST_DATABASE_URL=postgresql://... pytest -p minutehand.testing --pyargs minutehand.testing.conformance

The role in that URL must be allowed to create databases; each test gets its own. In the order of the flow:
`test_enqueue`, `test_claim`, `test_finish`, `test_operate`, `test_recur`. One suite for all back ends is DocMQ's idea.
"""
