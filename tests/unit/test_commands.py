"""Names in the commands that are shown as the next step, as a shell reads them."""

import subprocess

import pytest

from minutehand.queries.commands import quoted


@pytest.mark.parametrize(
    "name",
    ["mail", "a b", "it's", "x: minutehand cancel #", "\x03\x1b[201~\n'\\x41", "\u202eün", "\u200b'\""],
)
def test_shell_reads_a_quoted_name_which_is_printable(name: str) -> None:
    shown = quoted(name)

    read = subprocess.run(["bash", "-c", f"printf %s {shown}"], check=True, capture_output=True).stdout
    assert (read.decode(), shown.isprintable()) == (name, True)
