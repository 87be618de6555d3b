"""Fixtures of the queue tests, and the faults that a test must detect."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import LiteralString

import psycopg
import pytest

import minutehand.database
from minutehand import MinutehandError
from minutehand.database.statements import statement
from minutehand.schema.steps import steps
from tests.queue.logins import Login, logins
from tests.queue.stage import Queue
from tests.servers import Database
from tests.sessions import Sessions


@pytest.fixture
def queue(database: Database, sessions: Sessions) -> Iterator[Queue]:
    """A queue on the server of the run."""
    queue = Queue(database.url, database.admin_url, sessions)
    yield queue
    queue.close()


@pytest.fixture
def direct_queue(direct_database: Database, sessions: Sessions) -> Iterator[Queue]:
    """A queue on direct-18, for behavior that is the same on every server."""
    queue = Queue(direct_database.url, direct_database.admin_url, sessions)
    yield queue
    queue.close()


@pytest.fixture
def login(database: Database) -> Iterator[Login]:
    """Open sessions of new logins: `login("worker")`."""
    with logins(database) as login:
        yield login


@dataclass(frozen=True)
class Fault:
    """A known fault to put back: `replacement` where the text of a statement matches `pattern`.

    The name of a statement, or of a file with database functions, such as functions/updates.
    """

    name: str
    pattern: str
    replacement: str

    def statement(self, name: str) -> LiteralString:
        if name != self.name:
            return statement(name)
        return self.put_into(statement(name))

    def put_into(self, text: LiteralString) -> LiteralString:
        faulty, matches = re.subn(self.pattern, self.replacement, text, flags=re.DOTALL)
        assert matches, f"{self.name}.sql does not match {self.pattern!r}: put the fault back in another way"
        return faulty

    def replace_functions(self, url: str) -> None:
        """Apply the file with the fault. The schema then differs, so that the next test gets a new copy."""
        (step,) = (step for step in steps() if step.name == self.name)
        with psycopg.connect(url) as admin:
            admin.execute(self.put_into(step.text))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "fault(statement, pattern, replacement): the test must fail with this put back"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that has fault markers once without a fault, and once with each fault, when it must fail."""
    faults = [Fault(*mark.args) for mark in metafunc.definition.iter_markers("fault")]
    if faults:
        names = [f"fault_in_{fault.name}_{number}" for number, fault in enumerate(faults, 1)]
        cases = [
            pytest.param(fault, id=name.replace("/", "_"), marks=pytest.mark.mutation)
            for fault, name in zip(faults, names, strict=True)
        ]
        metafunc.parametrize("fault", [pytest.param(None, id="sound"), *cases], indirect=True)


@pytest.fixture(autouse=True)
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fault | None:
    fault: Fault | None = getattr(request, "param", None)
    if fault is not None and fault.name.startswith("functions/"):
        fault.replace_functions(request.getfixturevalue("database").admin_url)
    elif fault is not None:
        monkeypatch.setattr(minutehand.database.database, "statement", fault.statement)
    return fault


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Expect a test with a fault to fail."""
    if pyfuncitem.funcargs.get("fault") is None:
        return (yield)
    with pytest.raises((AssertionError, pytest.fail.Exception, LookupError, MinutehandError)) as caught:
        yield
    assert "put the fault back" not in str(caught.value), str(caught.value)
    return True
