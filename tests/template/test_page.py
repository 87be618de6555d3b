"""The deployment page documents every parameter and alarm, and no others."""

import re

import pytest

from tests.template.stack import ROOT, Stack

PAGE = ROOT / "docs" / "deploying.md"
README = ROOT / "README.md"


def section(title: str) -> str:
    return PAGE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """Return the rows of the tables in a section, without headers."""
    lines = [line for line in section(title).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.planted("  LatenessSeconds:\n", "  Lateness:\n")
@pytest.mark.planted(
    "  JwtAudience:\n    Type: String\n", "  JwtAudience:\n    Type: String\n  Colour:\n    Type: String\n"
)
def test_every_parameter_is_documented_in_order(stack: Stack) -> None:
    explained = [row[0].strip("`") for row in rows("Parameters")]

    assert explained == list(stack.template["Parameters"])


@pytest.mark.planted("Default: 50", "Default: 51")
@pytest.mark.planted('Default: "17.5"', 'Default: "16.3"')
@pytest.mark.planted("Default: PassThrough", "Default: Active")
def test_documented_defaults_are_correct(stack: Stack) -> None:
    for name, _, default in rows("Parameters"):
        value = str(stack.template["Parameters"][name.strip("`")]["Default"])
        if value:
            assert default.strip("`").partition(",")[0] == value, name


def test_parameters_set_in_the_documentation_exist(stack: Stack) -> None:
    for page in (PAGE, README):
        named = set(re.findall(r"\b([A-Z][A-Za-z]+[a-z])=(?=[a-z0-9<$])", page.read_text("utf-8")))
        assert named <= set(stack.template["Parameters"]), page.name


@pytest.mark.planted("Parameters: \\[LogRetentionDays, ", "Parameters: [")
@pytest.mark.planted("\\[ApiAuth, ApiTokensSecretArn", "[ApiAuth, ApiAuth, ApiTokensSecretArn")
def test_every_parameter_is_in_a_group_of_the_form(stack: Stack) -> None:
    groups = stack.template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    placed = [name for group in groups for name in group["Parameters"]]

    assert sorted(placed) == sorted(stack.template["Parameters"])


@pytest.mark.planted("-bloat\n", "-bloated\n")
def test_every_alarm_is_documented(stack: Stack) -> None:
    alarms = stack.of_type("AWS::CloudWatch::Alarm").values()

    assert [row[0].strip("`") for row in rows("Alarms")] == [
        alarm["AlarmName"]["Fn::Sub"].removeprefix("${AWS::StackName}-") for alarm in alarms
    ]
