"""Pages for users show the files of a project of `minutehand init`, not the folders of this repository."""

import re
from pathlib import Path

from tests.docs.reading import ROOT, blocks

# These pages say that they need a checkout, or are about this repository.
OF_A_CHECKOUT = {"ancestors.md", "decisions.md", "emulator.md", "local.md", "performance.md", "scaling.md"}
FOLDER_OF_THE_CHECKOUT = re.compile(
    r"(?<![\w/.-])(?:functions/worker|functions/dispatcher|shared/minutehand)\b"
)


def pages() -> list[Path]:
    return [page for page in (ROOT / "docs").rglob("*.md") if page.name not in OF_A_CHECKOUT]


def test_blocks_for_users_name_no_folder_of_the_checkout() -> None:
    named = [
        f"{block.page.name}:{block.line}"
        for page in pages()
        for block in blocks(page)
        if FOLDER_OF_THE_CHECKOUT.search(block.text)
    ]

    assert named == []


def test_pages_of_a_checkout_say_so_at_their_beginning() -> None:
    silent = [
        name
        for name in ("emulator.md", "local.md")
        if "needs a checkout of minutehand" not in (ROOT / "docs" / name).read_text("utf-8")[:1000]
    ]

    assert silent == []
