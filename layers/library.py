"""Copy the library into a layer, without the packages for people's machines.

    python3 library.py DIRECTORY

The layers are next to the library in a checkout, or in its package minutehand.stack. For a copy of the layers
elsewhere, the library is the one that this Python imports.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns

LAYERS = Path(__file__).resolve().parent
LEFT_OUT = (
    "__pycache__",
    "cli",
    "local",
    "project",
    "stack",
    "testing",
    "__main__.py",
    "README.md",
    # Only tests and people read the dump.
    "schema.sql",
)


def find_library() -> Path:
    """Return the folder of the library; exit if there is none."""
    for folder in (LAYERS.parent / "shared" / "minutehand", LAYERS.parents[1]):
        if (folder / "functions" / "worker.py").is_file():
            return folder
    spec = find_spec("minutehand")
    if spec is None or spec.origin is None:
        sys.exit(
            f"minutehand is not installed for {sys.executable}; activate its environment, then build again"
        )
    return Path(spec.origin).parent


if __name__ == "__main__":
    copytree(find_library(), sys.argv[1], ignore=ignore_patterns(*LEFT_OUT))
