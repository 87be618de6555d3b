"""The CloudFormation linter accepts the template and every deploy case."""

import json

import pytest
from cfnlint.api import lint

from tests.template.cases import CASES
from tests.template.stack import Deployed, Stack

REGION = "eu-central-1"


def faults(deployed: Deployed) -> list[str]:
    """Return the linter's findings in a deploy with all conditions and parameters resolved."""
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": deployed.resources,
        "Outputs": deployed.outputs,
    }
    return [
        f"{match.rule.id} {match.path} {match.message}"
        for match in lint(json.dumps(document), regions=[REGION])
        if match.rule.id.startswith("E")
    ]


@pytest.mark.planted("MemorySize: 512", "MemorySize: 64")
@pytest.mark.planted("CodeUri: functions/worker", "CodUri: functions/worker")
@pytest.mark.planted("Value: !Ref WorkerFailures", "Value: !Ref Failures")
@pytest.mark.planted("RetentionInDays:", "RetentionDays:")
@pytest.mark.programs
def test_template_is_clean(text: str) -> None:
    assert lint(text, regions=[REGION]) == []


@pytest.mark.planted("SqsManagedSseEnabled: true", "SqsManagedSseEnabled: 7 days")
@pytest.mark.planted("Runtime: python3.13", "Runtime: python3.6")
@pytest.mark.programs
def test_transformed_template_is_clean(stack: Stack) -> None:
    assert lint(json.dumps(stack.translated), regions=[REGION]) == []


@pytest.mark.planted("DBInstanceClass: db.serverless", "DBInstanceClass: serverless")
@pytest.mark.planted("Condition: MakesEndpoints", "Condition: ByIam")
@pytest.mark.planted("Condition: MakesGroup", "Condition: HasGroups")
@pytest.mark.planted(
    "    Condition: Snaps\n    Properties: {FunctionName: !Ref ApiFunction, Description",
    "    Condition: OnX86\n    Properties: {FunctionName: !Ref ApiFunction, Description",
)
@pytest.mark.programs
def test_every_deploy_case_is_clean(stack: Stack) -> None:
    for name, parameters in CASES.items():
        assert (name, faults(stack.deployed(**parameters))) == (name, [])
