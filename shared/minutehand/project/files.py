"""Files: the files of a new project, rendered from the templates of this package."""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from string import Template

# Paths in the project by the template's; the others are equal.
RENAMED = {"gitignore": ".gitignore", "workflows": ".github/workflows"}
SAM_ONLY = {"template.yaml", "samconfig.toml"}
# Values of placeholders: further parameters of the queue, and the module that enqueues.
DEFAULTS = {"more_parameters": "", "api": "api"}
DJANGO = {"more_parameters": "\n        Middleware: minutehand.integrations.django.worker", "api": "views"}


class _Text(Template):
    """A text with placeholders such as %%{name}, because $ and @ have a meaning in most of the files."""

    delimiter = "%%"


def render(kind: str, values: Mapping[str, str]) -> dict[PurePosixPath, str]:
    """Return the files of a kind of project by their path, in order.

    The kinds are `sam`, `cdk`, `django`, and `into` for an existing project. The folder `package` becomes the project's
    package. Projects for the CDK and for Django have the files of one for SAM, and others.
    """
    folder = files("minutehand.project") / "templates"
    values = {**DEFAULTS, **values}
    if kind == "django":
        values = {**values, **DJANGO}
        return dict(sorted({**render("sam", values), **_render(folder / kind, values)}.items()))
    if kind == "cdk":
        shared = {path: text for path, text in render("sam", values).items() if path.name not in SAM_ONLY}
        return dict(sorted({**shared, **_render(folder / kind, values)}.items()))
    return _render(folder / kind, values)


def _render(folder: Traversable, values: Mapping[str, str]) -> dict[PurePosixPath, str]:
    renamed = {**RENAMED, "package": values["package"]}
    return dict(
        sorted((_rename(path, renamed), fill(text, values)) for path, text in _walk(folder, PurePosixPath()))
    )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a template's text with values in its placeholders."""
    return _Text(text).substitute(values)


def _walk(folder: Traversable, path: PurePosixPath) -> list[tuple[PurePosixPath, str]]:
    found = []
    for child in folder.iterdir():
        if child.is_dir():
            found += _walk(child, path / child.name)
        else:
            found.append((path / child.name, child.read_text(encoding="utf-8")))
    return found


def _rename(path: PurePosixPath, renamed: Mapping[str, str]) -> PurePosixPath:
    """Return a template's path in the project.

    Some names end in .txt after another suffix, so that no tool reads a file with placeholders: jobs.py.txt.
    """
    parts = [renamed.get(part, part) for part in path.parts]
    if len(path.suffixes) > 1 and path.suffix == ".txt":
        parts[-1] = parts[-1].removesuffix(".txt")
    return PurePosixPath(*parts)
