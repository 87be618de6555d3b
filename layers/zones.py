"""Pack the 600 files of tzdata into one archive in its package, which takes a third of the bytes in a layer's zip.

Lambda's runtime has no time zones. Python's zoneinfo reads each one as a resource of the package `tzdata.zoneinfo`,
from an archive as well as from a folder.
"""

from pathlib import Path
from shutil import rmtree
from zipfile import ZIP_STORED, ZipFile, ZipInfo

IMPORT_ARCHIVE = '\n__path__.append(__path__[0] + "/zones.zip")\n'
# The tables that the zones are compiled from.
NEEDLESS = {"tzdata.zi", "leapseconds"}


def pack(layer: Path) -> None:
    """Pack the zones of a layer, if it has any. They are not compressed: the layer's zip compresses them together."""
    package = layer / "tzdata"
    zones = package / "zoneinfo"
    if not zones.is_dir():
        return
    zones_and_packages = [path for path in sorted(zones.rglob("*")) if path.is_file() and is_needed(path)]
    with ZipFile(package / "zones.zip", "w", ZIP_STORED) as archive:
        for path in zones_and_packages:
            archive.writestr(ZipInfo(path.relative_to(package).as_posix()), path.read_bytes())
    rmtree(zones)
    with (package / "__init__.py").open("a") as code:
        code.write(IMPORT_ARCHIVE)


def is_needed(path: Path) -> bool:
    """Return whether a file is a zone, or the __init__.py of a folder of zones."""
    return path.name not in NEEDLESS and path.suffix not in (".tab", ".pyc")
