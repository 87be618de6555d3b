"""Pack the content of an archive again."""

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tests.cluster.conftest import ROOT, Package


def packed_again(package: Package, folder: Path) -> Path:
    """Unpack the archive with new times and modes, and pack it again."""
    fresh = folder / "fresh"
    fresh.mkdir()
    subprocess.run(["tar", "-xzmf", str(package.archive), "-C", str(fresh)], check=True)
    spec = spec_from_file_location("package", ROOT / "pipeline" / "package.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    archive = folder / package.archive.name
    module._pack(fresh, archive)
    return archive
