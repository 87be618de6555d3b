"""Parameters: the parameters of the stack's template and their defaults.

The template is our own, so its lines are read without a YAML library, which an installation does not need otherwise.
A test compares the result with that of such a library.
"""

import json
import re

SECTION = re.compile(r"^Parameters:\n(.*?)^\S", re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r"^  (\w+):\n((?:    .*\n|\n)+)", re.MULTILINE)
DEFAULT = re.compile(r"^    Default: (.*)$", re.MULTILINE)


def read_parameters(template: str) -> dict[str, str | None]:
    """Return the default of every parameter by name; None if a parameter has none."""
    section = SECTION.search(template)
    return {name: _default(text) for name, text in PARAMETER.findall(section[1] if section else "")}


def _default(text: str) -> str | None:
    found = DEFAULT.search(text)
    if not found:
        return None
    return str(json.loads(found[1])) if found[1].startswith('"') else found[1]
