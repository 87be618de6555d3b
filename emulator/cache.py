"""Cache: build results by the hash of their inputs."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

IGNORED = {"__pycache__", ".git", ".mypy_cache", ".ruff_cache"}


@dataclass(frozen=True)
class Cache:
    """A directory of build results, one for each name and version."""

    home: Path

    def make(self, name: str, inputs: Iterable[str], build: Callable[[Path], None]) -> Path:
        """Return the directory that `build` fills; build again only if the inputs have changed.

        The directory appears only when complete, even if several processes build it concurrently.
        """
        key = hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:16]
        home = self.home.absolute()
        folder = home / f"{name}-{key}"
        if not folder.exists():
            home.mkdir(parents=True, exist_ok=True)
            scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", suffix=".part", dir=home))
            try:
                build(scratch)
                scratch.chmod(0o755)
                # Another process may have built it first.
                with suppress(OSError):
                    scratch.replace(folder)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return folder


def digest(*paths: Path) -> str:
    """Return a hash of the names and contents of files and folders."""
    hashed = hashlib.sha256()
    for path in paths:
        for file in sorted([path] if path.is_file() else path.rglob("*")):
            if file.is_file() and not IGNORED & set(file.parts):
                hashed.update(f"{file.relative_to(path)}\0{file.stat().st_mode & 0o111}\0".encode())
                hashed.update(hashlib.sha256(file.read_bytes()).digest())
    return hashed.hexdigest()
