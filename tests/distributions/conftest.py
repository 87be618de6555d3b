"""The wheels of this version, built once."""

import shutil
from pathlib import Path

import pytest

from tests.distributions.building import ROOT, build


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def site(wheel: Path, tmp_path: Path) -> Path:
    """A folder of installed packages that contains only this wheel."""
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    return tmp_path / "site"
