"""The simulations on the page about scaling have valid parameters, and the numbers of jobs that it states."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from minutehand_pipeline.cli.simulate import _config, simulate
from tests.docs.reading import ROOT, blocks

PAGE = ROOT / "docs" / "scaling.md"
COMMAND = "minutehand pipeline simulate "


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The parameters of each command of the page, next to the file of its policy."""
    monkeypatch.chdir(tmp_path)
    (policy,) = (block.text for block in blocks(PAGE) if block.language == "json")
    Path("resident.json").write_text(policy)
    commands = (
        shlex.split(block.text.replace("\\\n", ""))[3:]
        for block in blocks(PAGE)
        if block.language == "text" and block.text.startswith(COMMAND)
    )
    given = (simulate.make_context("simulate", command).params for command in commands)
    return [_config(options["lake"], options["synthetic"], options) for options in given]


def test_commands_of_the_page_have_valid_parameters(configs: list[Any]) -> None:
    assert [round(config.synthetic.expected) for config in configs] == [540_000, 540_000]
    assert [(each.capacity, each.chunk) for config in configs for each in config.policies] == [
        (10_000, 100),
        (200, 100),
    ]
