"""The stack: template.yaml, and the functions and layers that it deploys.

The wheel contains these files in this package. An editable installation reads them from the root of the repository.
"""

from pathlib import Path

from minutehand.errors import ConfigurationError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[2]


def folder() -> Path:
    """Return the folder that contains template.yaml, functions/ and layers/. It may be read-only.

    Raises ConfigurationError if this installation has no stack, as in Lambda.
    """
    for place in (PACKAGE, CHECKOUT):
        if (place / "template.yaml").is_file():
            return place
    raise ConfigurationError(
        f"{PACKAGE} must contain template.yaml; run: pip install --force-reinstall --no-deps minutehand"
    )
