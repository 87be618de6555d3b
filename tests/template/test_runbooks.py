"""Every alarm has a page, which starts with the command that the alarm names."""

import re

import pytest

from tests.template.stack import ROOT, Stack
from tests.template.test_alarms import alarms, named

RUNBOOKS = ROOT / "docs/runbooks"
FIRST_COMMAND = re.compile(r"\A# [\w-]+: (.*)\n\n```text\n(.*)\n```")


@pytest.mark.planted("-bloat\n", "-snapshot\n")
def test_alarm_is_named_after_its_stack(stack: Stack) -> None:
    found = alarms(stack)
    names = [alarm["AlarmName"]["Fn::Sub"] for alarm in found.values()]
    assert all(name.startswith("${AWS::StackName}-") for name in names)
    assert len(set(names)) == len(found)


@pytest.mark.planted("Run: minutehand why", "Run: minutehand stats")
@pytest.mark.planted("docs/runbooks/bloat.md", "docs/operating.md")
def test_alarm_names_the_command_that_starts_its_page(stack: Stack) -> None:
    index = (RUNBOOKS / "index.md").read_text("utf-8")
    for alarm in alarms(stack).values():
        name = named(alarm["AlarmName"]).removeprefix("minutehand-")
        page = (RUNBOOKS / f"{name}.md").read_text("utf-8")
        ((title, command),) = FIRST_COMMAND.findall(page)
        description = named(alarm["AlarmDescription"])
        assert description.endswith(f". Run: {command}. See docs/runbooks/{name}.md")
        assert len(description) <= 1024
        assert f"| [`{name}`]({name}.md) | {title} | `{command}` |\n" in index
