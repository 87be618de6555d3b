"""Link: `.minutehand/stack`, the stack of the installed version in a project's folder."""

import shutil
from pathlib import Path
from typing import Literal

from minutehand.project.errors import ProjectError
from minutehand.stack import folder

PLACE = Path(".minutehand") / "stack"
PARTS = ("template.yaml", "functions", "layers")
# A copy has this file with the path of its original.
ORIGIN = ".copied-from"


def link_stack(root: Path, stack: Path | None = None) -> Literal["linked", "copied", ""]:
    """Link a stack, by default the installed one, into a project; return an empty text if the link was up to date.

    Where links do not work, as on Windows without the privilege, the stack is copied each time.
    """
    stack, place = stack or folder(), root / PLACE
    if place.is_symlink() and place.resolve() == stack:
        return ""
    _remove(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        return _link(place, stack)
    except OSError as error:
        raise ProjectError(f"{place} cannot be written: {error.strerror}; check the permissions") from None


def _remove(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    elif (place / ORIGIN).is_file():
        shutil.rmtree(place)
    elif place.exists():
        raise ProjectError(f"{place} must be a link that minutehand creates; move it away and try again")


def _link(place: Path, stack: Path) -> Literal["linked", "copied"]:
    try:
        place.symlink_to(stack, target_is_directory=True)
    except (OSError, NotImplementedError):
        _copy(place, stack)
        return "copied"
    return "linked"


def _copy(place: Path, stack: Path) -> None:
    place.mkdir()
    (place / ORIGIN).write_text(str(stack), encoding="utf-8")
    for part in PARTS:
        source = stack / part
        if source.is_dir():
            shutil.copytree(source, place / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place / part)
