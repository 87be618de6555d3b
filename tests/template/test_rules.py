"""Contradictory parameters are rejected with a message before any resource is created."""

import re
from typing import Any

import pytest

from tests.template.cases import (
    CASES,
    CREATED,
    EXISTING,
    GROUP,
    HOST,
    ISSUER,
    KEY,
    ROUTES,
    SECRET,
    SUBNETS,
    VPC,
)
from tests.template.stack import Choice, Stack

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({**EXISTING, "DatabaseUrlSecretArn": ""}, "or set CreateDatabase=yes"),
    ({**CREATED, "DatabaseUrlSecretArn": f"{SECRET}database"}, "and CreateDatabase=yes exclude each other"),
    ({**CREATED, "VpcId": "", "SecurityGroupIds": GROUP}, "CreateDatabase=yes requires VpcId and SubnetIds"),
    ({**CREATED, "SubnetIds": ""}, "CreateDatabase=yes requires VpcId and SubnetIds"),
    ({**CREATED, "DatabaseIam": "cluster-ABC/minutehand"}, "leave DatabaseIam empty"),
    ({**CREATED, "MigrateSecretArn": f"{SECRET}owner"}, "leave MigrateSecretArn empty"),
    ({**CREATED, "DatabaseHost": HOST}, "leave DatabaseHost"),
    ({**CREATED, "DatabasePort": "5432"}, "leave DatabaseHost"),
    ({**CREATED, "DatabaseName": "app"}, "leave DatabaseHost"),
    ({**EXISTING, "SubnetIds": SUBNETS}, "SubnetIds requires SecurityGroupIds, or VpcId"),
    ({**EXISTING, "SecurityGroupIds": GROUP}, "require SubnetIds"),
    ({**EXISTING, "VpcId": VPC}, "require SubnetIds"),
    (
        {**EXISTING, "SubnetIds": SUBNETS, "SecurityGroupIds": GROUP, "CreateEndpoints": "yes"},
        "CreateEndpoints=yes requires VpcId",
    ),
    ({**EXISTING, "RouteTableIds": ROUTES}, "RouteTableIds requires CreateEndpoints=yes"),
    ({**EXISTING, "ApiTokensSecretArn": ""}, "ApiAuth=token requires ApiTokensSecretArn"),
    ({**EXISTING, "ApiAuth": "jwt", "JwtIssuer": ISSUER}, "ApiAuth=jwt requires JwtIssuer and JwtAudience"),
    ({**EXISTING, "ApiAuth": "jwt", "JwtAudience": "jobs"}, "ApiAuth=jwt requires JwtIssuer and JwtAudience"),
    ({**EXISTING, "SnapStart": "on"}, "SnapStart=on requires a Release"),
    ({**EXISTING, "PipelineApplicationId": "00f"}, "require each other; set all three"),
    ({**EXISTING, "PipelineEntryPoint": "s3://bucket/main.py"}, "require each other; set all three"),
    ({**EXISTING, "Mode": "prompt", "DispatcherReservedConcurrency": 1}, "Mode=prompt requires"),
    ({**EXISTING, "Mode": "prompt", "DispatcherReservedConcurrency": 2}, "Mode=prompt requires"),
    (
        {**EXISTING, "EncryptionSecretArn": f"{SECRET}encryption", "EncryptionKmsKeyArn": KEY},
        "EncryptionKmsKeyArn exclude each other",
    ),
    ({**EXISTING, "PreviousEncryptionSecretArn": f"{SECRET}before"}, "EncryptionRequired require a key"),
    ({**EXISTING, "EncryptResults": "1"}, "EncryptionRequired require a key"),
    ({**EXISTING, "EncryptionRequired": "1"}, "EncryptionRequired require a key"),
]


@pytest.mark.planted("CreatesDatabase: .*?\n", 'CreatesDatabase: !Equals [!Ref CreateDatabase, "no"]\n')
@pytest.mark.planted(r"      - Assert: !Equals \[!Ref DatabaseIam.*?empty\.\n", "")
@pytest.mark.planted(
    r'- !Not \[!Equals \[!Ref SecurityGroupIds, ""\]\]', '- !Equals [!Ref SecurityGroupIds, ""]'
)
@pytest.mark.planted(
    r'!And \[!Not \[!Equals \[!Ref JwtIssuer, ""\]\], !Not \[!Equals \[!Ref JwtAudience, ""\]\]\]',
    '!Not [!Equals [!Ref JwtIssuer, ""]]',
)
@pytest.mark.planted(
    "RuleCondition: !Equals \\[!Ref ApiAuth, token\\]", "RuleCondition: !Equals [!Ref ApiAuth, iam]"
)
def test_contradictory_parameters_are_rejected_and_explained(stack: Stack) -> None:
    assert stack.translated["Rules"] == stack.template["Rules"]
    for parameters, sentence in REFUSED:
        assert any(sentence in refusal for refusal in stack.refusals(**parameters)), parameters
    created = Choice(stack.parameters | CREATED, stack.translated["Conditions"])
    assert created.holds({"Condition": "CreatesDatabase"})


@pytest.mark.planted("Assert: !Equals \\[!Ref CreateEndpoints", "Assert: !Equals [!Ref CreateDatabase")
@pytest.mark.planted('- !Equals \\[!Ref SubnetIds, ""\\]', '- !Not [!Equals [!Ref SubnetIds, ""]]')
def test_valid_parameters_are_accepted(stack: Stack) -> None:
    extra = {
        **EXISTING,
        "VpcId": VPC,
        "SubnetIds": SUBNETS,
        "CreateEndpoints": "yes",
        "RouteTableIds": ROUTES,
    }
    for parameters in [*CASES.values(), extra]:
        assert stack.refusals(**parameters) == []


def test_each_rule_has_a_failing_case(stack: Stack) -> None:
    heard = {refusal for parameters, _ in REFUSED for refusal in stack.refusals(**parameters)}
    rules = stack.template["Rules"].values()

    assert heard == {assertion["AssertDescription"] for rule in rules for assertion in rule["Assertions"]}


@pytest.mark.planted(
    "Default: 5\n    MinValue: 1\n    MaxValue: 25", "Default: 26\n    MinValue: 1\n    MaxValue: 25"
)
@pytest.mark.planted("\\(subnet-\\[0-9a-z\\]\\+\\(,subnet-\\[0-9a-z\\]\\+\\)\\+\\)", "(subnet-[0-9a-f]+)")
def test_deploy_cases_are_accepted(stack: Stack) -> None:
    for parameters in CASES.values():
        for name, value in (stack.parameters | parameters).items():
            facts = stack.template["Parameters"][name]
            assert value in facts.get("AllowedValues", [value]), name
            assert re.fullmatch(facts.get("AllowedPattern", ".*"), str(value)), name
            if facts["Type"] == "Number":
                assert facts.get("MinValue", value) <= value <= facts.get("MaxValue", value), name


@pytest.mark.planted("\\(,subnet-\\[0-9a-z\\]\\+\\)\\+\\)\\?", "(,subnet-[0-9a-z]+)*)?")
def test_database_requires_two_subnets(stack: Stack) -> None:
    pattern = stack.template["Parameters"]["SubnetIds"]["AllowedPattern"]

    assert re.fullmatch(pattern, "") and re.fullmatch(pattern, SUBNETS)
    assert not re.fullmatch(pattern, SUBNETS.partition(",")[0])


@pytest.mark.planted("  Ticks: ", "  Never: !Equals [a, b]\n  Ticks: ")
def test_deploy_cases_cover_every_condition(stack: Stack) -> None:
    conditions = stack.translated["Conditions"]
    for name in conditions:
        taken = {
            Choice(stack.parameters | parameters, conditions).holds({"Condition": name})
            for parameters in CASES.values()
        }
        assert taken == {True, False}, name
