"""Every alarm has a page, which starts with the command that the alarm names."""

import re

import pytest

from tests.template.stack import ROOT, Stack
from tests.template.test_alarms import alarms, named

RUNBOOKS = ROOT / "docs/runbooks"
FIRST_COMMAND = re.compile(r"\A# [\w-]+: (.*)\n\n```text\n(.*)\n```")
# A row of the table of faults: its alarm and command.
FAULT = re.compile(r"^\| .+? \| (`[\w-]+`|none) \| `(minutehand .+?)` \| .+? \| \d: ", re.MULTILINE)


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


def test_command_of_a_fault_is_that_of_its_alarm() -> None:
    rows = FAULT.findall((RUNBOOKS / "index.md").read_text("utf-8"))

    assert len(rows) == 10
    for alarm, command in rows:
        if alarm != "none":
            page = (RUNBOOKS / f"{alarm.strip('`')}.md").read_text("utf-8")
            ((_, first),) = FIRST_COMMAND.findall(page)
            assert command == first, alarm
