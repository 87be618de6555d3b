"""What any server must do to carry minutehand, in sentences: the specification that a newcomer can read and run.

    MINUTEHAND_TEST_DATABASE_URL=postgresql://... pytest -p minutehand.testing --pyargs minutehand.testing.conformance

The role in that URL may make databases; each sentence gets one of its own. In the order of the flow: `test_enqueue`,
`test_claim`, `test_finish`, `test_operate`, `test_recur`. The idea of one suite for whatever lies below is DocMQ's,
whose drivers share theirs.
"""
