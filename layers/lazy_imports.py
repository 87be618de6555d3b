"""Let psycopg import asyncio and ctypes at their first use, and FastAPI build its models of OpenAPI at theirs.

Together they are sixty modules, and the models a seventh of the API's import. A worker without async jobs needs no
asyncio, the C implementation of psycopg never searches for libpq with ctypes, and few requests are for the schema.
"""

from pathlib import Path

LAZY_ASYNCIO = '''"""asyncio, imported at its first use."""


def __getattr__(name):
    import asyncio

    return getattr(asyncio, name)
'''

FROM_LAZY = "from . import _lazy_asyncio as asyncio\n"
NO_TRACEBACK = "_NO_TRACEBACK = (Error, KeyboardInterrupt, CancelledError)\n"
LAZY_NO_TRACEBACK = """

def __getattr__(name: str) -> Any:
    if name != "_NO_TRACEBACK":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from asyncio import CancelledError

    return (Error, KeyboardInterrupt, CancelledError)
"""
SEARCH = "def find_libpq_full_path() -> str | None:\n"
MODELS = "fastapi/openapi/models.py"
# By package and file: a text, which must be there, and its replacement.
CHANGES = {
    "psycopg/errors.py": [("from asyncio import CancelledError\n", ""), (NO_TRACEBACK, LAZY_NO_TRACEBACK)],
    "psycopg/waiting.py": [
        ("from asyncio import Future, get_running_loop, sleep\n", FROM_LAZY),
        (" get_running_loop()", " asyncio.get_running_loop()"),
        ("await sleep(", "await asyncio.sleep("),
    ],
    "psycopg/_acompat.py": [
        ("import asyncio\n", FROM_LAZY),
        ("AWorker: TypeAlias = asyncio.Task[None]\n", "AWorker: TypeAlias = Any\n"),
        ("ALock = asyncio.Lock\n", "def ALock() -> Any:\n    return asyncio.Lock()\n"),
        (
            "class AQueue(asyncio.Queue[T]):\n    pass\n",
            "def AQueue(maxsize: int = 0) -> Any:\n    return asyncio.Queue(maxsize)\n",
        ),
    ],
    "psycopg/_conninfo_attempts_async.py": [("    import asyncio\n", f"    {FROM_LAZY}")],
    "psycopg/connection_async.py": [
        ("    import asyncio\n", f"    {FROM_LAZY}"),
        ("    _INTERRUPTED = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)\n", "    pass\n"),
        ("except _INTERRUPTED", "except (asyncio.CancelledError, KeyboardInterrupt, SystemExit)"),
    ],
    "psycopg/pq/misc.py": [
        ("import ctypes.util\n", ""),
        ("from pathlib import Path\n", ""),
        (SEARCH, f"{SEARCH}    import ctypes.util\n    from pathlib import Path\n\n"),
    ],
    MODELS: [
        ('model_config = {"extra": "allow"}', 'model_config = {"extra": "allow", "defer_build": True}'),
        ("Schema.model_rebuild()\nOperation.model_rebuild()\nEncoding.model_rebuild()\n", ""),
    ],
}


class ChangedError(Exception):
    """The text of a package has changed; adapt CHANGES to it."""


def defer_imports(layer: Path) -> None:
    """Change the packages that a layer has."""
    for name, changes in CHANGES.items():
        if (layer / name).is_file():
            (layer / name).write_text(_changed(name, (layer / name).read_text("utf-8"), changes), "utf-8")
    if (layer / "psycopg").is_dir():
        (layer / "psycopg" / "_lazy_asyncio.py").write_text(LAZY_ASYNCIO, "utf-8")


def _changed(name: str, text: str, changes: list[tuple[str, str]]) -> str:
    for old, new in changes:
        if old not in text:
            raise ChangedError(f"{name} has no {old.strip()!r}; adapt layers/lazy_imports.py to it")
        text = text.replace(old, new)
    return text
