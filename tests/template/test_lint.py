"""CloudFormation's linter has nothing to say, neither to the template nor to its translation."""

import json

import pytest
from cfnlint.api import lint

from tests.template.stack import Stack


@pytest.mark.planted("MemorySize: 512", "MemorySize: 64")
@pytest.mark.planted("CodeUri: functions/worker", "CodUri: functions/worker")
@pytest.mark.planted("Value: !Ref WorkerFailures", "Value: !Ref Failures")
@pytest.mark.planted("RetentionInDays:", "RetentionDays:")
def test_the_template_is_clean(text: str) -> None:
    assert lint(text, regions=["eu-central-1"]) == []


@pytest.mark.planted("SqsManagedSseEnabled: true", "SqsManagedSseEnabled: 7 days")
@pytest.mark.planted("Runtime: python3.13", "Runtime: python3.6")
def test_what_cloudformation_is_given_is_clean(stack: Stack) -> None:
    assert lint(json.dumps(stack.translated), regions=["eu-central-1"]) == []
