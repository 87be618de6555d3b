"""Check that everything in a built layer loads where it is meant for; tell what does not, and fail.

    python3 check.py DIRECTORY VERSION MACHINE

DIRECTORY is the layer's `python`, VERSION the Python that it is for, MACHINE `aarch64`, `x86_64`, or `any` for a
layer that both share, which must have no machine code.
"""

import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

NUMBERS = {"aarch64": 183, "x86_64": 62}  # as ELF has them
NAMES = {number: name for name, number in NUMBERS.items()}
HEADER = struct.Struct("<4sBB12xH")  # magic, class, byte order; type is in the padding; machine
TAG = re.compile(r"\.(cpython-[^.]+)\.(?:so|pyc)$")


def strangers(layer: Path, version: str, machine: str) -> Iterator[str]:
    """Tell each file that would not load, and why."""
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
    """Tell why a library would not load: its machine, by what is in it, or its Python, by its name."""
    if (found := machine_of(path)) != machine:
        return f"for {found}, not for {machine}"
    return wrong_tag(path, f"cpython-{version.replace('.', '')}-{machine}-linux-gnu")


def machine_of(path: Path) -> str:
    """Return the machine that a library is for."""
    with path.open("rb") as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or head[:4] != b"\x7fELF":
        return "nothing that Linux loads"
    _, bits, order, number = HEADER.unpack(head)
    return NAMES.get(number, f"machine {number}") if (bits, order) == (2, 1) else "another kind of machine"


def wrong_tag(path: Path, tag: str) -> str:
    """Tell if a name bears another Python's tag; a name without one is for every Python."""
    found = TAG.search(path.name)
    return f"tagged {found[1]}, not {tag}" if found and found[1] != tag else ""


if __name__ == "__main__":
    if faults := list(strangers(Path(sys.argv[1]), sys.argv[2], sys.argv[3])):
        sys.exit("\n".join([f"this layer would not load on Python {sys.argv[2]}, {sys.argv[3]}:", *faults]))
