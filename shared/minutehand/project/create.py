"""Create: write the files of a new project."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import minutehand
from minutehand.project.errors import ProjectError
from minutehand.project.files import render
from minutehand.project.link import link_stack
from minutehand.project.lock import NAME, installed, lock_text
from minutehand.project.names import package_of


def new_files(name: str, kind: str = "sam") -> dict[PurePosixPath, str]:
    """Return the files of a new project by their path; raise ProjectError if the name is not usable."""
    values = {"name": name, "package": package_of(name), "version": minutehand.__version__}
    return {**render(kind, values), PurePosixPath(NAME): lock_text(installed())}


def check_empty(folder: Path) -> None:
    """Raise ProjectError unless the folder is missing or empty; version control alone does not count."""
    if folder.exists() and not folder.is_dir():
        raise ProjectError(f"{folder} is a file; choose another name")
    if folder.is_dir() and {path.name for path in folder.iterdir()} - {".git"}:
        raise ProjectError(
            f"{folder} is not empty; choose another name, or add a queue to the project there: "
            f"minutehand init --into {folder}"
        )


def write_files(folder: Path, files: Mapping[PurePosixPath, str]) -> None:
    """Write files that do not exist yet, and link the stack; raise ProjectError if the folder cannot be written."""
    try:
        for path, text in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise ProjectError(f"{error.filename} cannot be written: {error.strerror}") from None
    link_stack(folder)
