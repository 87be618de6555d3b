"""A kind's handler is found in its file, whatever other files exist, and an import that fails is reported as such."""

import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from minutehand import UnknownKindError
from minutehand.handlers import HandlerPackage
from minutehand.work import work
from tests.queue.stage import Queue

Write = Callable[..., HandlerPackage]
ONE = "def handle(payload): return 1\n"
TWO = "def handle(payload): return 2\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write the files of a package of handlers."""

    def write(package: str = "custom_handlers", **files: str) -> HandlerPackage:
        for name, text in files.items():
            path = tmp_path / package / f"{name.replace('.', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return HandlerPackage(package)

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for name in [name for name in sys.modules if name.startswith("custom_handlers")]:
        del sys.modules[name]


def run(handlers: HandlerPackage, kind: str) -> object:
    return handlers.find(kind).function(None)


@pytest.mark.parametrize("order", [("invoice", "invoice.send"), ("invoice.send", "invoice")])
@pytest.mark.parametrize("file", ["invoice", "invoice.__init__"])
def test_kind_and_a_kind_below_it_have_their_own_handlers(
    write: Write, file: str, order: tuple[str, ...]
) -> None:
    handlers = write(**{file: ONE, "invoice.send": TWO})

    assert {kind: run(handlers, kind) for kind in order} == {"invoice": 1, "invoice.send": 2}


def test_handler_next_to_a_folder_can_import_its_neighbours(write: Write) -> None:
    handlers = write(
        **{
            "_rates": "VAT = 3",
            "invoice": f"from ._rates import VAT\n{ONE}",
            "invoice._text": "HELLO = 4",
            "invoice.send": "from ._text import HELLO\ndef handle(payload): return HELLO",
        }
    )

    assert (run(handlers, "invoice.send"), run(handlers, "invoice")) == (4, 1)


@pytest.mark.parametrize("files", [{"invoice.send": TWO}, {"invoice.send": TWO, "invoice.__init__": ""}])
@pytest.mark.parametrize("kind", ["invoice", "invoice.pay", "invoice.send.now", "other"])
def test_kind_without_a_file_is_unknown(write: Write, files: dict[str, str], kind: str) -> None:
    with pytest.raises(
        UnknownKindError, match=f"no handler for kind {kind}; expected .* or {kind.replace('.', '/')}.py with"
    ):
        write(**files).find(kind)


def test_kind_without_a_file_in_a_folder_of_kinds_falls_back(write: Write) -> None:
    handlers = write(**{"invoice.send": TWO, "_otherwise": "def handle(payload): return 5"})

    assert run(handlers, "invoice") == 5


def test_hidden_handler_file_is_named(write: Write) -> None:
    handlers = write(**{"invoice": ONE, "invoice.__init__": "", "invoice.send": TWO})

    with pytest.raises(UnknownKindError, match=r"invoice/__init__\.py hides invoice\.py; delete it, or"):
        handlers.find("invoice")


def test_file_without_a_handler_never_falls_back(write: Write) -> None:
    handlers = write(invoice="x = 1", _otherwise=ONE)

    with pytest.raises(UnknownKindError, match=r"invoice\.py must define a function named handle"):
        handlers.find("invoice")


def test_first_package_that_has_the_file_runs_the_kind(write: Write) -> None:
    write("custom_handlers_first", invoice=ONE, _middleware="middleware = [lambda job, call_next: 1]")
    write(**{"invoice": TWO, "invoice.send": TWO})
    handlers = HandlerPackage(["custom_handlers_first", "custom_handlers"])

    assert {kind: run(handlers, kind) for kind in ("invoice", "invoice.send")} == {
        "invoice": 1,
        "invoice.send": 2,
    }
    assert [len(handlers.find(kind).around.middleware) for kind in ("invoice", "invoice.send")] == [1, 0]


def test_worker_runs_the_handler_that_was_added_for_a_kind(write: Write, direct_queue: Queue) -> None:
    def add_handler(_payload: Any, _job: Any) -> int:
        write(invoice=TWO)
        invalidate_caches()
        return 1

    write(other=ONE)
    handlers = HandlerPackage("custom_handlers", otherwise=add_handler)
    ids = [direct_queue.enqueue("invoice") for _ in range(2)]
    work(direct_queue.database, handlers, Flag(), chunk=1, drain=True)

    assert [direct_queue.row(job_id).result for job_id in ids] == [1, 2]


def test_missing_package_is_named(write: Write) -> None:
    write(invoice=ONE)
    handlers = HandlerPackage(
        ["custom_handlers", "custom_handlers_missing"], otherwise=lambda payload, job: 2
    )

    assert run(handlers, "invoice") == 1
    with pytest.raises(
        UnknownKindError, match="the module custom_handlers_missing with the handlers cannot be found"
    ):
        handlers.find("other")


@pytest.mark.parametrize(
    "missing", ["custom_handlers.invoice", "custom_handlers", "stripe", "custom_handlers.invoice.send"]
)
@pytest.mark.parametrize("kind", ["invoice", "invoice.send"])
def test_failed_import_is_not_an_unknown_kind(write: Write, kind: str, missing: str) -> None:
    failing = f"raise ModuleNotFoundError('No module named {missing}', name='{missing}')\n{ONE}"
    handlers = write(**{"invoice": failing, "invoice.send": TWO, "_otherwise": ONE})

    with pytest.raises(ModuleNotFoundError, match=missing):
        handlers.find(kind)
