"""Shared fixtures of the template tests: the stack, and planted faults that the tests must notice."""

import re
from collections.abc import Generator
from dataclasses import dataclass

import pytest

from minutehand import MinutehandError
from tests.template.stack import TEMPLATE, Stack


@dataclass(frozen=True)
class Planted:
    """A fault in the template: where its text first matches `pattern`, it says `replacement`."""

    pattern: str
    replacement: str

    def text(self) -> str:
        text, places = re.subn(
            self.pattern, self.replacement, TEMPLATE.read_text("utf-8"), count=1, flags=re.DOTALL
        )
        assert places, (
            f"the template has nothing like {self.pattern!r} any more: plant the fault in another way"
        )
        return text


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "planted(pattern, replacement): the test must fail with this in the template"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that names faults once as it is, and once with each fault, when it must fail."""
    faults = [Planted(*mark.args) for mark in metafunc.definition.iter_markers("planted")]
    if faults:
        cases = [pytest.param(fault, id=_name(fault), marks=pytest.mark.mutation) for fault in faults]
        metafunc.parametrize("planted", [pytest.param(None, id="sound"), *cases], indirect=True)


def _name(fault: Planted) -> str:
    return re.sub(r"\W+", "_", fault.replacement).strip("_")[-40:] or "nothing"


@pytest.fixture
def planted(request: pytest.FixtureRequest) -> Planted | None:
    fault: Planted | None = getattr(request, "param", None)
    return fault


@pytest.fixture
def text(planted: Planted | None) -> str:
    """The template, with the fault if there is one."""
    return planted.text() if planted else TEMPLATE.read_text("utf-8")


@pytest.fixture
def stack(text: str, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack, with the fault if there is one."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    return Stack(text)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    if pyfuncitem.funcargs.get("planted") is None:
        return (yield)
    with pytest.raises((AssertionError, LookupError, MinutehandError)):
        yield
    return True
