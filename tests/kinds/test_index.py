"""Workers find the module of a kind in its text, and import only that one."""

import ast
import gc
import sys
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest

from minutehand import ConfigurationError, UnknownKindError
from minutehand.handlers import HandlerPackage
from minutehand.kinds.index import declared, index
from tests.kinds.conftest import Write

JOBS = """
    from minutehand import job

    @job
    def welcome(email: str) -> str:
        return "welcome " + email

    @job(kind="mail.remind", every="@daily")
    async def remind() -> None: ...
"""
OTHERS = """
    import minutehand as mh
    from minutehand import job as background

    @mh.job
    def first() -> None: ...

    @background(queue="slow")
    def second() -> None: ...

    def third() -> None: ...

    @other.job
    def fourth() -> None: ...
"""


class Garbage:
    """An object in a cycle, whose finalizer parses Python."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        self._parse(60)

    def _parse(self, depth: int) -> None:
        """Parse with more frames on the stack than the code that is interrupted."""
        if depth:
            self._parse(depth - 1)
        else:
            ast.parse("1")


@pytest.fixture
def collected_often() -> Iterator[None]:
    """Let garbage be collected after a few allocations."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.set_threshold(10, 1, 1)
    yield
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("collected_often")
def test_kinds_are_found_while_garbage_is_collected() -> None:
    text = dedent(JOBS).encode()
    Garbage()

    assert [found.kind for found in declared("jobs", text)] == ["welcome", "mail.remind"]


def test_kinds_are_found_without_an_import(write: Write) -> None:
    write(jobs=JOBS, **{"more.others": OTHERS, "more.__init__": "raise SystemExit"})

    assert {kind: each.module for kind, each in index(("shop.jobs", "shop.more")).items()} == {
        "welcome": "shop.jobs",
        "mail.remind": "shop.jobs",
        "first": "shop.more.others",
        "second": "shop.more.others",
    }
    assert [kind for kind, each in index(("shop",)).items() if each.recurs] == ["mail.remind"]
    assert "shop" not in sys.modules


def test_worker_imports_only_the_module_of_the_kind(write: Write) -> None:
    write(
        jobs=JOBS,
        others=OTHERS,
        broken="from minutehand import job\nwelcome = 1 / 0",
        handlers="def handle(payload): ...",
    )

    handler = HandlerPackage("shop").find("welcome")

    assert (
        handler.binding.call(handler.function, handler.binding.convert({"email": "a"}), None) == "welcome a"
    )
    assert {name for name in sys.modules if name.startswith("shop")} == {"shop", "shop.jobs"}


def test_file_of_a_kind_and_declared_kinds_share_a_package(write: Write) -> None:
    write(jobs=JOBS, invoice="def handle(payload): return 1")
    handlers = HandlerPackage("shop")

    functions = [handlers.find(kind).function.__name__ for kind in ("invoice", "mail.remind")]

    assert functions == ["handle", "remind"]
    with pytest.raises(UnknownKindError):
        handlers.find("remind")


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (
            {"jobs": JOBS, "copied": JOBS},
            r"kind 'welcome' is declared in shop\.copied, line 5, and in shop\.jobs",
        ),
        (
            {"jobs": JOBS.replace('"mail.remind"', "NAME")},
            r"kind in shop\.jobs, line 8, must be a string literal",
        ),
    ],
)
def test_index_refuses_kinds_it_cannot_tell(write: Write, modules: Any, message: str) -> None:
    write(**modules)

    with pytest.raises(ConfigurationError, match=message):
        index(("shop",))
