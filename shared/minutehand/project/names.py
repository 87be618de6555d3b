"""Names: the name of a project, and of its package and stack."""

import keyword
import re
import sys

from minutehand.project.errors import ProjectError

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# A function's name has at most 64 characters. It begins with the name of the queue's stack, which CloudFormation makes
# of the names of the outer stack and the resource and of up to 13 characters. The longest one ends with this.
LONGEST_STACK = 64 - len("-dispatcher")
RANDOM_CHARACTERS = 13
# Folders and packages that a project has besides its own package, or imports.
TAKEN = {"django", "fastapi", "mangum", "minutehand", "pydantic", "test", "tests"}


def longest_outer_stack(resource: str) -> int:
    """Return how many characters the name of a stack may have that contains the queue as this resource."""
    return LONGEST_STACK - len(f"-{resource}-") - RANDOM_CHARACTERS


def package_of(name: str) -> str:
    """Return the package of a project, `my_shop` for `my-shop`; raise ProjectError if the name is not usable.

    The name becomes the name of the stack, so it has the characters that CloudFormation allows.
    """
    longest = longest_outer_stack("Queue")
    if not NAME.fullmatch(name) or len(name) > longest:
        raise ProjectError(
            f"the name must have lower-case letters, digits and single hyphens, begin with a letter, "
            f"and have at most {longest} characters, got {name!r}"
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in TAKEN or package in sys.stdlib_module_names:
        raise ProjectError(
            f"the name must not be {name}, because Python or the project uses it; choose another"
        )
    return package
