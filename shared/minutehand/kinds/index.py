"""Index: find the module that declares a kind, by reading the text of modules without importing them.

A kind is the name of a decorated function or a literal `kind=`, so its text is in the file. Only files that contain it
are parsed, and only the module that declares it is imported: the import time of a worker does not depend on the
number of kinds.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from minutehand.errors import ConfigurationError

HANDLE = re.compile(rb"^(async +)?def +handle\b", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """A decorated function in a module's text."""

    kind: str
    module: str
    line: int
    recurs: bool


def module_of(kind: str, modules: tuple[str, ...]) -> str | None:
    """Return the name of the module that declares a kind, in these modules and packages; None if there is none."""
    for module, path in files(modules):
        text = path.read_bytes()
        if kind.encode() in text and any(each.kind == kind for each in declared(module, text)):
            return module
    return None


def index(modules: tuple[str, ...], containing: bytes = b"") -> dict[str, Found]:
    """Return the declared kinds of these modules and packages, or of their files that contain a text.

    Raises ConfigurationError if a kind is declared twice.
    """
    found: dict[str, Found] = {}
    for module, path in files(modules):
        text = path.read_bytes()
        for each in declared(module, text) if containing in text else ():
            if other := found.get(each.kind):
                raise ConfigurationError(
                    f"kind {each.kind!r} is declared in {other.module}, line {other.line}, "
                    f"and in {each.module}, line {each.line}; set kind= for one of them"
                )
            found[each.kind] = each
    return found


def has_file(kind: str, packages: tuple[str, ...]) -> bool:
    """Whether a kind has a handler file in one of these packages, or whether a package handles all kinds."""
    names = {name for package in packages for name in (f"{package}.{kind}", f"{package}._otherwise")}
    return any(module in names and HANDLE.search(path.read_bytes()) for module, path in files(packages))


def known_kinds(packages: tuple[str, ...]) -> set[str]:
    """Return the kinds that are declared in these modules and packages, or have a handler file in them."""
    return {*index(packages), *(kind for package in packages for kind in _file_kinds(package))}


def _file_kinds(package: str) -> Iterator[str]:
    for module, path in files((package,)):
        kind = module.removeprefix(f"{package}.")
        if module != package and "._" not in f".{kind}" and HANDLE.search(path.read_bytes()):
            yield kind


def files(modules: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    """Return the files of modules, and of packages with their submodules, without importing them."""
    return tuple(each for module in modules for each in _files(module))


def declared(module: str, text: bytes) -> Iterator[Found]:
    """Yield the functions that `minutehand.job` decorates in a module's text."""
    if b"minutehand" not in text:
        return
    tree = _parsed(text, module)
    names = set(_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                if ast.unparse(call.func if call else decorator) in names:
                    options = {each.arg: each.value for each in call.keywords} if call else {}
                    kind = _literal(options["kind"], module) if "kind" in options else node.name
                    yield Found(kind, module, node.lineno, "every" in options)


def _parsed(text: bytes, module: str) -> ast.Module:
    try:
        try:
            return ast.parse(text, module)
        except SystemError:
            # Python 3.11 raises it if garbage is collected meanwhile and a finalizer parses too, such as one that logs
            # a traceback. The garbage is gone now.
            return ast.parse(text, module)
    except (SyntaxError, ValueError) as error:
        place = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise ConfigurationError(
            f"{module} has a syntax error{place}: {reason}; correct it, then try again"
        ) from error


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that the decorator has in a module, such as `job` and `minutehand.job`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "minutehand" and not node.level:
            yield from (each.asname or each.name for each in node.names if each.name == "job")
        elif isinstance(node, ast.Import):
            yield from (f"{each.asname or each.name}.job" for each in node.names if each.name == "minutehand")


def _literal(node: ast.expr, module: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ConfigurationError(
        f"kind in {module}, line {node.lineno}, must be a string literal, got {ast.unparse(node)}: workers read it "
        "without importing the module"
    )


def _files(module: str) -> Iterable[tuple[str, Path]]:
    for place in _places(module):
        if place.is_file():
            return [(module, place)]
        if place.is_dir():
            return [(_module_name(module, place, file), file) for file in sorted(place.rglob("*.py"))]
    return []


def _places(module: str) -> Iterator[Path]:
    """Yield the paths that a module may have. The spec of a top-level module is found without an import."""
    top, *parts = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *parts)
        yield from (path.with_suffix(".py"), path) if parts else (path,)
    if not parts and spec.origin and not spec.submodule_search_locations:
        yield Path(spec.origin)


def _module_name(package: str, folder: Path, file: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])
