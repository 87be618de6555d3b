"""Checks of a project of `minutehand init`: what can be read in its folder, without a database or an account."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from minutehand.doctor.finding import Finding, Opinion, judged, ok, problem, skipped, warning
from minutehand.kinds.importing import examine_apart
from minutehand.project.changes import changes
from minutehand.project.configuration import read_configuration
from minutehand.project.errors import ProjectError
from minutehand.project.link import PLACE
from minutehand.project.lock import NAME, installed, read_lock
from minutehand.stack import folder

REQUIREMENT = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)", re.MULTILINE)
PROVIDED = {"minutehand", "boto3", "botocore", "msgspec", "psycopg", "psycopg-binary"}
CODE = re.compile(r"^ +CodeUri: *[\"']?([^\s\"'{]+)", re.MULTILINE)
RUNTIME = re.compile(r"\bRuntime: *[\"']?(python3\.\d+)")


@dataclass(frozen=True)
class Project:
    """A project's folder, and its template, which is empty in a project for the CDK."""

    root: Path
    template: str


def find_project(root: Path) -> Project | None:
    """Return the project in a folder, or None if there is none."""
    if not (root / NAME).is_file():
        return None
    template = root / "template.yaml"
    return Project(root, template.read_text(encoding="utf-8") if template.is_file() else "")


def examine_project(project: Project) -> list[Finding]:
    """Run every check of a project."""
    return [Finding.of(name, check(project)) for name, check in PROJECT_CHECKS.items()]


def link(project: Project) -> Opinion:
    """Whether .minutehand/stack is the stack of the installed version."""
    place = project.root / PLACE
    if not (place / "template.yaml").is_file():
        return problem(f"{PLACE} does not exist, so `sam build` fails", "minutehand link")
    if place.is_symlink() and place.resolve() != folder():
        return problem(f"{PLACE} is the stack of another installation", "minutehand link")
    return ok(f"{PLACE} is the stack of the installed version")


def lock(project: Project) -> Opinion:
    """Whether the installed version is the one that the project has accepted."""
    try:
        count = len(changes(read_lock(project.root), installed()))
    except ProjectError as error:
        return problem(str(error), "minutehand upgrade")
    advice = "to read them: minutehand upgrade --check; to accept them: minutehand upgrade"
    return warning(f"{count} changes since {NAME} was written", advice) if count else ok(f"{NAME} agrees")


def handlers(project: Project) -> Opinion:
    """Whether the modules of the jobs exist."""
    try:
        modules = read_configuration(project.root).handlers
    except ProjectError as error:
        return problem(str(error), "correct pyproject.toml")
    if not modules:
        return problem(
            "no module with jobs is named", "set HandlerModules in template.yaml, such as shop.jobs"
        )
    correct = "correct HandlerModules in template.yaml, or handlers in pyproject.toml"
    if missing := [module for module in modules if not _exists(project.root, module)]:
        return problem("; ".join(f"{module} does not exist" for module in missing), correct)
    # Another process, because modules that were imported here would not be imported again.
    faults, empty = examine_apart(modules, {"PYTHONPATH": _import_path(project.root)})
    if faults:
        return problem(
            "; ".join(faults), "correct it, or set the environment variables that it reads at its import"
        )
    return judged(
        [f"{module} declares no job" for module in empty], correct, f"found {', '.join(modules)}", warning
    )


def layer(project: Project) -> Opinion:
    """Whether the built layer contains the modules of the jobs."""
    built = [path for path in project.root.glob(".aws-sam/build/*Handlers/python") if path.is_dir()]
    if not built:
        return skipped("not built; run: sam build")
    try:
        modules = read_configuration(project.root).handlers
    except ProjectError as error:
        return skipped(str(error))
    missing = [module for module in modules if not any(_exists(path, module) for path in built)]
    return judged(
        [f"the built layer does not contain {module}" for module in missing],
        "check ContentUri and the Makefile of the layer, then run: sam build",
        "the built layer contains the modules",
    )


def python(project: Project) -> Opinion:
    """Whether `sam build` finds the Python that the project's own functions need."""
    builds = [place for place in CODE.findall(project.template) if _has_requirements(project.root / place)]
    runtimes = sorted(set(RUNTIME.findall(project.template))) if builds else []
    here = f"python{sys.version_info.major}.{sys.version_info.minor}"
    missing = [runtime for runtime in runtimes if runtime != here and not shutil.which(runtime)]
    return judged(
        [f"`sam build` needs {runtime} for the requirements of {', '.join(builds)}" for runtime in missing],
        "install it, or run: sam build --use-container",
        "`sam build` finds every Python that it needs",
    )


def requirements(project: Project) -> Opinion:
    """Whether requirements.txt leaves out the packages that the queue's layers contain."""
    path = project.root / "requirements.txt"
    names = (
        REQUIREMENT.findall(path.read_text(encoding="utf-8"))
        if path.is_file() and _is_packed(project)
        else []
    )
    listed = sorted(PROVIDED.intersection(name.lower().replace("_", "-") for name in names))
    return judged(
        [f"requirements.txt lists {', '.join(listed)}"] if listed else [],
        "remove them: the queue's layers and Lambda's runtime contain these packages",
        "requirements.txt lists only your packages",
        warning,
    )


PROJECT_CHECKS: Mapping[str, Callable[[Project], Opinion]] = {
    "link": link,
    "lock": lock,
    "handlers": handlers,
    "layer": layer,
    "python": python,
    "requirements": requirements,
}


def _exists(root: Path, module: str) -> bool:
    path = root.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _import_path(root: Path) -> str:
    return os.pathsep.join(filter(None, [str(root.resolve()), os.environ.get("PYTHONPATH")]))


def _has_requirements(place: Path) -> bool:
    return (place / "requirements.txt").is_file() and not (place / "Makefile").is_file()


def _is_packed(project: Project) -> bool:
    """Whether the layer contains the packages of this file. An existing project may use it for something else."""
    return "MinutehandHandlers" not in project.template
