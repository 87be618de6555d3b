"""A deploy migrates the schema before new code goes live, and fails if the migration fails."""

from typing import Any

import pytest

from tests.template.cases import CASES
from tests.template.stack import Stack


@pytest.mark.planted("    DependsOn: Migration\n    Properties: &worker", "    Properties: &worker")
@pytest.mark.planted("(DispatcherFunction:\n[^\n]*\n)    DependsOn: Migration\n", r"\1")
@pytest.mark.planted("(ApiFunction:\n[^\n]*\n)    DependsOn: Migration\n", r"\1")
@pytest.mark.planted("(MigrateFunction:\n[^\n]*\n)", r"\1    DependsOn: Migration\n")
def test_all_functions_wait_for_the_migration(stack: Stack) -> None:
    waiting = {
        name
        for name, resource in stack.translated["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function" and "Migration" in resource.get("DependsOn", [])
    }

    assert waiting == set(stack.functions) - {"MigrateFunction"}


@pytest.mark.planted("ServiceToken: !GetAtt MigrateFunction.Arn", "ServiceToken: !GetAtt WorkerFunction.Arn")
@pytest.mark.planted("      Library: !Ref LibraryLayer\n", "")
@pytest.mark.planted("Library: !Ref LibraryLayer", "Library: !Ref Architecture")
@pytest.mark.planted("!If \\[CreatesDatabase, !Ref DatabaseInstance,", "!If [CreatesDatabase, !Ref VpcId,")
def test_new_library_or_another_database_is_migrated(stack: Stack) -> None:
    (created,) = stack.deployed(**CASES["created"]).of_type("Custom::Migration").values()
    (existing,) = stack.deployed(**CASES["existing"]).of_type("Custom::Migration").values()

    assert created["ServiceToken"] == {"Fn::GetAtt": ["MigrateFunction", "Arn"]}
    # The name of a layer's version has its content's hash in it, so a new library is a new value.
    assert isinstance(existing["Library"], dict) and existing["Library"]["Ref"].startswith("LibraryLayer")
    assert existing["Library"]["Ref"] in stack.of_type("AWS::Lambda::LayerVersion")
    assert created["Database"] == {"Ref": "DatabaseInstance"}
    assert existing["Database"] == CASES["existing"]["DatabaseUrlSecretArn"]


@pytest.mark.planted("!Ref SecretsEndpoint, !Ref LambdaEndpoint, ", "!Ref SecretsEndpoint, ")
@pytest.mark.planted('!If \\[MakesRoutes, !Ref StorageEndpoint, ""\\]', "!Ref SecretsEndpoint")
@pytest.mark.planted("      Network: !If\n        - MakesEndpoints", "      Network: !If\n        - OnX86")
def test_endpoints_are_created_before_the_migration(stack: Stack) -> None:
    deployed = stack.deployed(**CASES["created, closed network"])
    (migration,) = deployed.of_type("Custom::Migration").values()

    assert referred(migration["Network"]) == set(deployed.of_type("AWS::EC2::VPCEndpoint"))
    (open_network,) = stack.deployed(**CASES["created"]).of_type("Custom::Migration").values()
    assert open_network["Network"] == ""


def referred(value: Any) -> set[str]:
    """The resources that a value refers to."""
    if isinstance(value, dict) and "Ref" in value:
        return {value["Ref"]}
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return set().union(*map(referred, parts))


@pytest.mark.planted("ServiceTimeout: 660", "ServiceTimeout: 300")
@pytest.mark.planted("      ServiceTimeout: 660\n", "")
def test_cloudformation_timeout_covers_the_migration(stack: Stack) -> None:
    (migration,) = stack.of_type("Custom::Migration").values()
    config = stack.of_type("AWS::Lambda::EventInvokeConfig")["MigrateFunctionEventInvokeConfig"]
    longest = stack.functions["MigrateFunction"]["Timeout"] + config["MaximumEventAgeInSeconds"]

    assert longest < migration["ServiceTimeout"] < 1800


@pytest.mark.planted('!If \\[MigratesAsOwner, "",', "!If [MigratesAsOwner, '1',")
@pytest.mark.planted(
    "!If \\[MigratesAsOwner, !Ref MigrateSecretArn", "!If [MigratesAsOwner, !Ref DatabaseUrlSecretArn"
)
def test_schema_owner_may_differ_from_the_function_role(stack: Stack) -> None:
    parameters = CASES["tokens of RDS"]
    deployed = stack.deployed(**parameters)
    migrate, worker = deployed.variables("MigrateFunction"), deployed.variables("WorkerFunction")

    assert migrate["MINUTEHAND_DATABASE_SECRET"] == parameters["MigrateSecretArn"]
    assert worker["MINUTEHAND_DATABASE_SECRET"] == parameters["DatabaseUrlSecretArn"]
    assert (migrate["MINUTEHAND_DATABASE_IAM"], worker["MINUTEHAND_DATABASE_IAM"]) == ("", "1")
