"""Watch: notice that Python files of a project changed, so that a local run can load them again."""

import os
from collections.abc import Iterator
from pathlib import Path

# A project with more files is too large to compare several times a second.
MOST_FILES = 5000
SKIPPED = {"__pycache__", "node_modules", "site-packages"}


class Watch:
    """The Python files in a folder, except those in hidden folders and environments."""

    def __init__(self, root: Path) -> None:
        """Remember the files as they are now."""
        self._root = root
        self._seen = self._read()

    def changed(self) -> list[str]:
        """Return the files that were changed, added or removed since the last call, relative to the folder."""
        before, self._seen = self._seen, self._read()
        return sorted(name for name in before.keys() | self._seen if before.get(name) != self._seen.get(name))

    def _read(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for path in self._files():
            try:
                status = path.stat()
            except OSError:
                continue
            found[str(path.relative_to(self._root))] = (status.st_mtime_ns, status.st_size)
            if len(found) >= MOST_FILES:
                break
        return found

    def _files(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self._root):
            folders[:] = sorted(name for name in folders if _is_source(Path(folder, name)))
            yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def _is_source(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in SKIPPED
    return not hidden and not (folder / "pyvenv.cfg").exists()
