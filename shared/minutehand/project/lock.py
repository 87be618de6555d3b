"""Lock: `minutehand.lock`, what the stack, the schema and the settings were when a project was last upgraded."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import minutehand
from minutehand.project.configuration import Configuration, read_configuration
from minutehand.project.errors import ProjectError
from minutehand.project.parameters import read_parameters
from minutehand.schema.steps import steps
from minutehand.settings.report import format_default
from minutehand.settings.table import SETTINGS
from minutehand.stack import folder

NAME = "minutehand.lock"
# Files of which a project has at least one, unless its pyproject.toml has a table for minutehand.
MARKS = (NAME, "template.yaml", "template.yml", "cdk.json")


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A version of minutehand: its parameters and settings with their defaults, and its schema with checksums.

    A parameter without a default is None. A step of the schema is a migration or a file of functions or roles.
    """

    version: str
    parameters: dict[str, str | None]
    schema: dict[str, str]
    settings: dict[str, str]


def installed() -> Lock:
    """Return the lock of the installed version."""
    template = (folder() / "template.yaml").read_text(encoding="utf-8")
    return Lock(
        version=minutehand.__version__,
        parameters=read_parameters(template),
        schema={step.label: step.checksum[:16] for step in steps()},
        settings={name: format_default(setting) for name, setting in SETTINGS.items()},
    )


def check_is_project(root: Path) -> None:
    """Raise ProjectError unless a folder contains a project, with or without a lock."""
    if not any((root / name).is_file() for name in MARKS) and read_configuration(root) == Configuration():
        raise ProjectError(
            f"{root.resolve()} is not a project (it has no {', '.join(MARKS[:-1])} or {MARKS[-1]}, and no "
            "[tool.minutehand] in pyproject.toml); run this in the folder of a project"
        )


def read_lock(root: Path) -> Lock:
    """Return the lock of a project; raise ProjectError if there is none, or if it cannot be read."""
    path = root / NAME
    try:
        return Lock(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ProjectError(
            f"{root.resolve()} does not contain {NAME}; "
            "run `minutehand upgrade` to create it, in the folder of a project"
        ) from None
    except (OSError, TypeError, ValueError) as error:
        raise ProjectError(
            f"{path} cannot be read ({error}); restore it, or run: minutehand upgrade"
        ) from None


def write_lock(root: Path, lock: Lock) -> None:
    """Write the lock of a project."""
    (root / NAME).write_text(lock_text(lock), encoding="utf-8")


def lock_text(lock: Lock) -> str:
    """Return the contents of the file, with a line for each fact, so that a diff shows what changed."""
    return json.dumps(asdict(lock), indent=2) + "\n"
