"""Check that every file of a built layer loads on its Python and architecture; list the files that do not, and fail.

    python3 check.py DIRECTORY VERSION MACHINE

DIRECTORY is the layer's `python`, VERSION its Python, and MACHINE `aarch64`, `x86_64`, or `any` for a layer that both
architectures share, which must contain no machine code.
"""

import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

# The machine numbers of ELF.
NUMBERS = {"aarch64": 183, "x86_64": 62}
NAMES = {number: name for name, number in NUMBERS.items()}
# Magic, class, byte order and machine; the padding contains the type.
HEADER = struct.Struct("<4sBB12xH")
TAG = re.compile(r"\.(cpython-[^.]+)\.(?:so|pyc)$")


def find_faults(layer: Path, version: str, machine: str) -> Iterator[str]:
    """Yield each file that would not load, with the reason."""
    for path in sorted(layer.rglob("*")):
        if re.search(r"\.so(\.|$)", path.name):
            fault = wrong_library(path, version, machine)
        elif path.suffix == ".pyc":
            fault = wrong_tag(path, f"cpython-{version.replace('.', '')}")
        else:
            continue
        if fault:
            yield f"{path.relative_to(layer)}: {fault}"


def wrong_library(path: Path, version: str, machine: str) -> str:
    """Return why a shared library would not load: it is for another machine or another Python."""
    if (found := machine_of(path)) != machine:
        return f"for {found}, not for {machine}"
    return wrong_tag(path, f"cpython-{version.replace('.', '')}-{machine}-linux-gnu")


def machine_of(path: Path) -> str:
    """Return the machine of a shared library."""
    with path.open("rb") as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or head[:4] != b"\x7fELF":
        return "an unknown format"
    _, bits, order, number = HEADER.unpack(head)
    return NAMES.get(number, f"machine {number}") if (bits, order) == (2, 1) else "an unknown machine"


def wrong_tag(path: Path, tag: str) -> str:
    """Return a fault if a name has the tag of another Python; a name without a tag is for every Python."""
    found = TAG.search(path.name)
    return f"tagged {found[1]}, not {tag}" if found and found[1] != tag else ""


if __name__ == "__main__":
    if faults := list(find_faults(Path(sys.argv[1]), sys.argv[2], sys.argv[3])):
        sys.exit("\n".join([f"this layer would not load on Python {sys.argv[2]}, {sys.argv[3]}:", *faults]))
