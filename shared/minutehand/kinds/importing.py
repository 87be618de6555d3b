"""Importing: import the modules that a command names once at its start, so that one that fails costs no job an attempt.

python -m minutehand.kinds.importing shop.jobs    # prints what is wrong, for a parent that must not import it
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from minutehand.errors import ConfigurationError
from minutehand.kinds.index import HANDLE, declared, files

ADVICE = "correct it, then start again"
# Begins the line of the answer, since a module may print at its import.
ANSWER = "\x1e"
# A module that takes longer is not judged.
SECONDS = 60.0


def fault_of(module: str) -> str | None:
    """Import a module; return what is wrong with it, without advice, or None.

    The submodules of a package are not imported: those that mention minutehand are parsed.
    """
    try:
        import_module(module)
    except (Exception, SystemExit) as error:
        return f"{module} cannot be imported: {_described(error)}"
    return syntax_fault_of(module)


def syntax_fault_of(package: str) -> str | None:
    """Return which file of a package cannot be parsed, without advice, or None."""
    try:
        for name, path in files((package,)):
            list(declared(name, path.read_bytes()))
    except ConfigurationError as error:
        return str(error).partition("; correct it")[0]
    return None


def declares_nothing(module: str) -> bool:
    """Whether neither a decorated function nor a handler file is in a module or package that can be parsed."""
    texts = [(name, path.read_bytes()) for name, path in files((module,))]
    return not any(
        (HANDLE.search(text) and name != module) or any(declared(name, text)) for name, text in texts
    )


def examine_apart(modules: Sequence[str], environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Import modules in another process; return what is wrong with them, and those that declare no job."""
    if not modules:
        return [], []
    command = [sys.executable, "-m", __name__, *modules]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [], []
    for line in done.stdout.decode(errors="replace").split("\n"):
        if line.startswith(ANSWER):
            faults, empty = json.loads(line.removeprefix(ANSWER))
            return faults, empty
    return [f"{', '.join(modules)} cannot be imported: Python exited with code {done.returncode}"], []


def _described(error: BaseException) -> str:
    """Return the type of an error, its first line and its place, such as (shop/jobs.py, line 29)."""
    message, place = str(error), _place(error)
    if isinstance(error, SyntaxError):
        message, place = error.msg, (error.filename, error.lineno) if error.filename else None
    message = message.partition("\n")[0]
    at = f" ({_relative(place[0])}, line {place[1]})" if place else ""
    return f"{type(error).__name__}{message and f': {message}'}{at}"


def _place(error: BaseException) -> tuple[str, int | None] | None:
    """Return the innermost line of the user's own code; that of a library if there is none."""
    frames = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<")
        and frame.filename not in (__file__, import_module.__code__.co_filename)
    ]
    own = [frame for frame in frames if _is_own(frame[0])]
    return next(iter([*own[::-1], *frames[::-1]]), None)


def _is_own(file: str) -> bool:
    return Path(file).is_relative_to(Path.cwd()) and not {"site-packages", "dist-packages"} & {
        *Path(file).parts
    }


def _relative(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _answer(modules: Sequence[str]) -> str:
    faults = {module: fault_of(module) for module in modules}
    empty = [module for module, fault in faults.items() if fault is None and declares_nothing(module)]
    return f"\n{ANSWER}{json.dumps([[fault for fault in faults.values() if fault], empty])}\n"


if __name__ == "__main__":
    sys.stdout.write(_answer(sys.argv[1:]))
