"""An additional worker needs five lines in the template, a permission and a route, as in docs/deploying.md."""

import json
import re

import pytest
from cfnlint.api import lint

from minutehand.settings import read_settings
from tests.template.cases import CASES
from tests.template.stack import ROOT, TEMPLATE, Properties, Stack, listed
from tests.template.test_lint import faults

PAGE = ROOT / "docs" / "deploying.md"
NAME = "minutehand-worker-reports"


def snippet(beginning: str) -> str:
    """Return the code block of the page that starts with a text."""
    blocks: list[str] = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if block.lstrip().startswith(beginning)]
    return block


@pytest.fixture
def text() -> str:
    """The template with the worker from the page."""
    text, there = re.subn(
        r"(?=  # Events that Lambda could not deliver)",
        lambda _: snippet("ReportsFunction:") + "\n",
        TEMPLATE.read_text("utf-8"),
        count=1,
    )
    text, routed = re.subn(
        r' +MINUTEHAND_WORKERS: &routes "\{\}"\n', lambda _: snippet("MINUTEHAND_WORKERS:"), text, count=1
    )
    text, allowed = re.subn(r"(?<=-worker:live\n)", lambda _: snippet("- !Sub arn:"), text, count=1)
    assert there == routed == allowed == 1
    return text


def test_documented_worker_has_five_lines_and_a_route() -> None:
    assert len(snippet("ReportsFunction:").splitlines()) == 5
    assert len(snippet("MINUTEHAND_WORKERS:").splitlines()) == 1


@pytest.mark.programs
def test_template_with_an_additional_worker_is_clean(text: str, stack: Stack) -> None:
    assert lint(text, regions=["eu-central-1"]) == []
    assert faults(stack.deployed(**CASES["existing"])) == []


def test_additional_worker_inherits_the_worker_properties(stack: Stack) -> None:
    functions = stack.deployed(**CASES["existing"]).functions
    worker, reports = functions["WorkerFunction"], functions["ReportsFunction"]
    own = {name for name in worker if worker[name] != reports[name]}

    assert own == {"FunctionName", "Code", "MemorySize", "Timeout"}
    assert (reports["MemorySize"], reports["Timeout"]) == (3008, 900)
    assert stack.translated["Resources"]["ReportsFunction"]["DependsOn"] == ["Migration"] or (
        stack.translated["Resources"]["ReportsFunction"]["DependsOn"] == "Migration"
    )


def test_events_of_an_additional_worker_are_delivered_or_stored(stack: Stack) -> None:
    config = stack.of_type("AWS::Lambda::EventInvokeConfig")["ReportsFunctionEventInvokeConfig"]

    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)
    assert config["DestinationConfig"]["OnFailure"]["Destination"] == {
        "Fn::GetAtt": ["WorkerFailures", "Arn"]
    }


def test_dispatcher_may_invoke_an_additional_worker(stack: Stack) -> None:
    deployed = stack.deployed(**CASES["existing"])
    variables = deployed.variables("DispatcherFunction")
    routes = named(variables["MINUTEHAND_WORKERS"])
    workers = read_settings(
        {"MINUTEHAND_WORKER": named(variables["MINUTEHAND_WORKER"]), "MINUTEHAND_WORKERS": routes}
    ).workers
    function = named(deployed.functions["ReportsFunction"]["FunctionName"])

    assert function == NAME
    assert workers.worker("reports", "any") == NAME
    assert workers.worker("default", "any") == "minutehand-worker"
    (policy,) = deployed.of_type("AWS::IAM::Role")["DispatcherRole"]["Policies"]
    statement, itself = [
        statement
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Action"] == "lambda:InvokeFunction"
    ]
    *own, additional = listed(statement["Resource"])
    assert [named(resource).rpartition("function:")[2] for resource in own] == [
        "minutehand-worker",
        "minutehand-worker:live",
    ]
    assert named(additional).rpartition("function:")[2] == NAME
    assert named(itself["Resource"]).endswith("function:minutehand-dispatcher")
    assert json.loads(routes) == {"queue:reports": NAME}


def named(value: str | Properties) -> str:
    """Resolve a text of the template for the stack `minutehand`."""
    text = value if isinstance(value, str) else str(value["Fn::Sub"])
    return text.replace("${AWS::StackName}", "minutehand")
