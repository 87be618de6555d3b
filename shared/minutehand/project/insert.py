"""Insert: add the queue to an existing SAM project: new files, and lines in template.yaml and .gitignore.

No file is replaced. Two values in samconfig.toml are changed if they would fail the build or the deploy.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath

from minutehand.project.create import write_files
from minutehand.project.errors import ProjectError
from minutehand.project.files import fill, render
from minutehand.project.link import PLACE, link_stack
from minutehand.project.lock import NAME, installed, lock_text
from minutehand.project.yaml_text import add, entries

TEMPLATES = ("template.yaml", "template.yml")
PACKAGES = ("jobs", "minutehand_jobs")
NEEDED = {
    "cached": (re.compile(r"^(cached\s*=\s*)true\b", re.MULTILINE), r"\1false"),
    "capabilities": (
        re.compile(r'^(capabilities\s*=\s*"(?!.*AUTO_EXPAND)[A-Z_ ]*)"', re.MULTILINE),
        r'\1 CAPABILITY_AUTO_EXPAND"',
    ),
}
NOTES = {
    "cached": "a cached build does not notice new versions of minutehand, so cached is now false",
    "capabilities": "the queue is a nested stack, so capabilities now contain CAPABILITY_AUTO_EXPAND",
}
# For a project whose samconfig.toml does not set capabilities as a text.
DEPLOY = (
    "the queue is a nested stack, so add this to `sam deploy`: "
    "--capabilities CAPABILITY_IAM CAPABILITY_AUTO_EXPAND"
)


@dataclass(frozen=True)
class Insertion:
    """The files that were written or changed, or would be, and notes; nothing if the project has the queue."""

    written: tuple[PurePosixPath, ...] = ()
    changed: tuple[PurePosixPath, ...] = ()
    notes: tuple[str, ...] = ()


def insert_into(folder: Path, *, dry_run: bool = False) -> Insertion:
    """Add the queue to the SAM project in a folder; a second call changes nothing but the link.

    Raises ProjectError if the folder has no template in block style, or cannot be written.
    """
    template = _find_template(folder)
    text = _read(template)
    if str(PLACE.as_posix()) in text:
        if not dry_run:
            link_stack(folder)
        return Insertion()
    values = {"package": _free_package(folder)}
    changed = {PurePosixPath(template.name): insert_queue(text, values["package"]), **_ignored(folder)}
    samconfig, notes = _samconfig(folder)
    added = {**render("into", values), PurePosixPath(NAME): lock_text(installed())}
    if not dry_run:
        write_files(folder, {path: text for path, text in added.items() if not (folder / path).exists()})
        _replace(folder, {**changed, **samconfig})
    return Insertion((*changed, *samconfig, *added), (*changed, *samconfig), tuple(notes))


def insert_queue(text: str, package: str) -> str:
    """Return a template with the parameter and the resources of the queue; all its lines are kept."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    if taken := {"MinutehandQueue", "MinutehandHandlers"} & set(entries(lines, "Resources")):
        raise ProjectError(f"the template must not have the resource {sorted(taken)[0]}; rename it")
    result = add(lines, "Resources", _block("resources", package), before="Resources")
    if "DatabaseUrlSecretArn" not in entries(lines, "Parameters"):
        result = add(result, "Parameters", _block("parameters", package), before="Resources")
    _check(lines, result)
    return newline.join(result)


def _block(name: str, package: str) -> list[str]:
    text = (files("minutehand.project") / "templates" / "blocks" / f"{name}.yaml").read_text(encoding="utf-8")
    return fill(text, {"package": package}).splitlines()


def _check(before: Sequence[str], after: Sequence[str]) -> None:
    """Raise ProjectError unless all lines are kept in order, and the two resources come before the others."""
    rest = iter(after)
    contains_all = all(line in rest for line in before)
    expected = ["MinutehandQueue", "MinutehandHandlers", *entries(before, "Resources")]
    if not contains_all or entries(after, "Resources") != expected:
        raise ProjectError(
            "the queue cannot be added to the template without changes to other lines; "
            'add it as the page "Your project" shows'
        )


def _find_template(folder: Path) -> Path:
    for name in TEMPLATES:
        if (folder / name).is_file():
            return folder / name
    raise ProjectError(f"{folder} must contain template.yaml; to create a project, run: minutehand init NAME")


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _free_package(folder: Path) -> str:
    for name in PACKAGES:
        if not (folder / name).exists():
            return name
    raise ProjectError(
        f"{folder} must not have both {' and '.join(PACKAGES)}; rename one: the jobs need one of these names"
    )


def _ignored(folder: Path) -> dict[PurePosixPath, str]:
    """Return .gitignore with the folder of the link, unless it is there."""
    path = folder / ".gitignore"
    text = _read(path) if path.exists() else ""
    if ".minutehand/" in text.split():
        return {}
    return {
        PurePosixPath(
            ".gitignore"
        ): f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}.minutehand/\n"
    }


def _samconfig(folder: Path) -> tuple[dict[PurePosixPath, str], list[str]]:
    """Return samconfig.toml with the settings that the queue needs, and notes about each change and what it lacks."""
    path = folder / "samconfig.toml"
    text, notes = _read(path) if path.exists() else "", []
    for name, (pattern, replacement) in NEEDED.items():
        text, count = pattern.subn(replacement, text)
        notes += [f"{path.name}: {NOTES[name]}"] if count else []
    changed = {PurePosixPath(path.name): text} if notes else {}
    return changed, notes if "CAPABILITY_AUTO_EXPAND" in text else [*notes, DEPLOY]


def _replace(folder: Path, texts: dict[PurePosixPath, str]) -> None:
    try:
        for path, text in texts.items():
            with (folder / path).open("w", encoding="utf-8", newline="") as file:
                file.write(text)
    except OSError as error:
        raise ProjectError(f"{error.filename} cannot be written: {error.strerror}") from None
