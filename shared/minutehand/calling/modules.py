"""Handler modules: find and import the file of a kind."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from minutehand.errors import UnknownKindError
from minutehand.middleware import import_optional


def import_handler(package: str, kind: str) -> ModuleType | None:
    """Import the module of a kind; return None if the kind has no file.

    Kind `invoice.send` is `invoice/send.py` in the package, or `invoice/send/__init__.py` if that defines `handle`.
    Whether a file exists is decided before its import, so that an import that fails is always raised.
    """
    module = import_optional(package)
    for part in kind.split("."):
        module = _import_child(module, part) if module else None
    return module if module and _is_handler(module, kind) else None


def no_handler(kind: str) -> UnknownKindError:
    """Return the error of a kind that has neither a decorated function nor a file."""
    file = f"{kind.replace('.', '/')}.py"
    return UnknownKindError(
        f"no handler for kind {kind}; expected a function decorated with @job, or {file} with a function handle"
    )


def _import_child(parent: ModuleType, name: str) -> ModuleType | None:
    _search_folder(parent)
    full_name = f"{parent.__name__}.{name}"
    found = hasattr(parent, "__path__") and find_spec(full_name)
    return import_module(full_name) if found else None


def _search_folder(module: ModuleType) -> None:
    """Make a package of `invoice.py` if there is a folder `invoice` next to it, which Python alone ignores."""
    if not hasattr(module, "__path__") and module.__file__:
        folder = Path(module.__file__).with_suffix("")
        if folder.is_dir():
            module.__path__ = [str(folder)]


def _is_handler(module: ModuleType, kind: str) -> bool:
    """Whether a module is the file of a kind, and not a folder of other kinds' files."""
    if module.__file__ is None:
        return False
    file = Path(module.__file__)
    if file.name != "__init__.py" or hasattr(module, "handle"):
        return True
    if file.parent.with_suffix(".py").is_file():
        folder = kind.replace(".", "/")
        raise UnknownKindError(
            f"{folder}/__init__.py hides {folder}.py; delete it, or define handle in {folder}/__init__.py"
        )
    return False
