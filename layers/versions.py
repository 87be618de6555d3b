"""State the versions of psycopg in its modules.

They read the metadata of their distribution when they are imported. The parser for it takes a tenth of a cold start.
"""

from importlib.metadata import PathDistribution
from pathlib import Path

PACKAGES = ("psycopg", "psycopg_binary")


def state_versions(layer: Path) -> None:
    """Replace the module `version` of each package in a layer, if the layer has it."""
    for package in PACKAGES:
        module = layer / package / "version.py"
        if module.is_file():
            (metadata,) = layer.glob(f"{package}-*.dist-info")
            module.write_text(f'__version__ = "{PathDistribution(metadata).version}"\n', "utf-8")
