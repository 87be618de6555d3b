"""Zones: the 600 files of tzdata as one archive in its package, a third of the bytes in a layer's zip.

Lambda's runtime has no time zones of its own. Python's zoneinfo asks for each as a resource of the package
`tzdata.zoneinfo`, and reads it from an archive as well as from a folder.
"""

from pathlib import Path
from shutil import rmtree
from zipfile import ZIP_STORED, ZipFile, ZipInfo

FOUND_THERE = '\n__path__.append(__path__[0] + "/zones.zip")\n'
NEEDLESS = {"tzdata.zi", "leapseconds"}  # the tables that the zones are made from


def pack(layer: Path) -> None:
    """Pack the zones of a layer that has some; stored, since the layer's own zip then packs them all as one."""
    package = layer / "tzdata"
    zones = package / "zoneinfo"
    if not zones.is_dir():
        return
    kept = [path for path in sorted(zones.rglob("*")) if path.is_file() and is_needed(path)]
    with ZipFile(package / "zones.zip", "w", ZIP_STORED) as archive:
        for path in kept:
            archive.writestr(ZipInfo(path.relative_to(package).as_posix()), path.read_bytes())
    rmtree(zones)
    with (package / "__init__.py").open("a") as code:
        code.write(FOUND_THERE)


def is_needed(path: Path) -> bool:
    """Whether a file is a zone, or makes a folder of them a package."""
    return path.name not in NEEDLESS and path.suffix not in (".tab", ".pyc")
