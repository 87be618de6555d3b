"""Names: the name of a project, and of its package."""

import keyword
import re
import sys

from minutehand.project.errors import ProjectError

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40
# Folders and packages that a project has besides its own package, or imports.
TAKEN = {"django", "fastapi", "mangum", "minutehand", "pydantic", "test", "tests"}


def package_of(name: str) -> str:
    """Return the package of a project, `my_shop` for `my-shop`; raise ProjectError if the name is not usable.

    The name becomes the name of the stack, so it has the characters that CloudFormation allows.
    """
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise ProjectError(
            f"the name must have lower-case letters, digits and single hyphens, begin with a letter, "
            f"and have at most {LONGEST} characters, got {name!r}"
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in TAKEN or package in sys.stdlib_module_names:
        raise ProjectError(
            f"the name must not be {name}, because Python or the project uses it; choose another"
        )
    return package
