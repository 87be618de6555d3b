"""The database of the stack, and the endpoints of a network without internet access."""

import pytest

from minutehand.settings import database_url
from tests.connections.manager import Manager
from tests.template.cases import CASES, HOST, KEY, ROUTES, SUBNETS, VPC
from tests.template.stack import Properties, Stack


def only(stack: Stack, case: str, kind: str) -> Properties:
    (found,) = stack.deployed(**CASES[case]).of_type(kind).values()
    return found


@pytest.mark.planted("StorageEncrypted: true", "StorageEncrypted: false")
@pytest.mark.planted("ManageMasterUserPassword: true", "MasterUserPassword: secret")
@pytest.mark.planted("EnableIAMDatabaseAuthentication: true\n", "EnableIAMDatabaseAuthentication: false\n")
@pytest.mark.planted("PubliclyAccessible: false", "PubliclyAccessible: true")
@pytest.mark.planted("SecondsUntilAutoPause: !If \\[MayPause", "SecondsUntilAutoPause: !If [OnArm")
@pytest.mark.planted("KmsKeyId: !Ref KmsKeyArn", "KmsKeyId: alias/aws/secretsmanager")
def test_database_is_private_encrypted_and_may_pause(stack: Stack) -> None:
    cluster = only(stack, "created", "AWS::RDS::DBCluster")
    busy = only(stack, "created, closed network", "AWS::RDS::DBCluster")
    instance = only(stack, "created", "AWS::RDS::DBInstance")

    assert cluster["StorageEncrypted"] is cluster["EnableIAMDatabaseAuthentication"] is True
    assert cluster["ManageMasterUserPassword"] is True and "MasterUserPassword" not in cluster
    assert cluster["ServerlessV2ScalingConfiguration"] == {
        "MinCapacity": 0,
        "MaxCapacity": 4,
        "SecondsUntilAutoPause": 300,
    }
    assert busy["ServerlessV2ScalingConfiguration"] == {"MinCapacity": 2, "MaxCapacity": 4}
    assert "MasterUserSecret" not in cluster and busy["MasterUserSecret"] == {"KmsKeyId": KEY}
    assert cluster["BackupRetentionPeriod"] == 7
    assert (instance["DBInstanceClass"], instance["PubliclyAccessible"]) == ("db.serverless", False)
    assert only(stack, "created", "AWS::RDS::DBSubnetGroup")["SubnetIds"] == SUBNETS.split(",")


@pytest.mark.planted("      DeletionProtection: [^\n]*\n", "")
@pytest.mark.planted(r"If \[ProtectsDatabase, true, false\]", "If [ProtectsDatabase, false, true]")
@pytest.mark.planted("DeletionPolicy: Snapshot", "DeletionPolicy: Delete")
@pytest.mark.planted("UpdateReplacePolicy: Snapshot", "UpdateReplacePolicy: Delete")
def test_created_database_is_protected_from_deletion(stack: Stack) -> None:
    cluster = stack.template["Resources"]["Database"]

    assert only(stack, "created", "AWS::RDS::DBCluster")["DeletionProtection"] is True
    assert only(stack, "created, closed network", "AWS::RDS::DBCluster")["DeletionProtection"] is False
    assert cluster["DeletionPolicy"] == cluster["UpdateReplacePolicy"] == "Snapshot"


@pytest.mark.planted("Condition: CreatesDatabase", "Condition: OnArm")
def test_no_database_is_created_if_one_exists(stack: Stack) -> None:
    kinds = {resource["Type"] for resource in stack.deployed(**CASES["existing"]).resources.values()}

    assert not {kind for kind in kinds if kind.startswith(("AWS::RDS", "AWS::EC2"))}


@pytest.mark.planted("SourceSecurityGroupId: !GetAtt FunctionsGroup.GroupId", "CidrIp: 0.0.0.0/0")
@pytest.mark.planted("FromPort: 5432", "FromPort: 0")
@pytest.mark.planted("FromPort: 443", "FromPort: 0")
def test_database_and_endpoints_are_reached_only_by_functions(stack: Stack) -> None:
    groups = stack.deployed(**CASES["created, closed network"]).of_type("AWS::EC2::SecurityGroup")
    reached = {
        name: [
            (
                rule["FromPort"],
                rule["ToPort"],
                rule["IpProtocol"],
                rule["SourceSecurityGroupId"]["Fn::GetAtt"][0],
            )
            for rule in group.get("SecurityGroupIngress", [])
        ]
        for name, group in groups.items()
    }

    assert reached == {
        "DatabaseGroup": [(5432, 5432, "tcp", "FunctionsGroup")],
        "EndpointsGroup": [(443, 443, "tcp", "FunctionsGroup")],
        "FunctionsGroup": [],
    }


@pytest.mark.planted(
    "MINUTEHAND_DATABASE_HOST: !If \\[CreatesDatabase", "MINUTEHAND_DATABASE_HOST: !If [OnX86"
)
@pytest.mark.planted(
    "MINUTEHAND_DATABASE_NAME: !If \\[CreatesDatabase, minutehand",
    "MINUTEHAND_DATABASE_NAME: !If [CreatesDatabase, postgres",
)
@pytest.mark.planted(
    "DatabaseTls:\n    Type: String\n    Default: verify", 'DatabaseTls:\n    Type: String\n    Default: ""'
)
def test_functions_have_the_settings_missing_from_the_rds_secret(stack: Stack) -> None:
    created, existing = stack.deployed(**CASES["created"]), stack.deployed(**CASES["existing"])
    expected = {
        "MINUTEHAND_DATABASE_SECRET": {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]},
        "MINUTEHAND_DATABASE_HOST": {"Fn::GetAtt": ["Database", "Endpoint.Address"]},
        "MINUTEHAND_DATABASE_PORT": {"Fn::GetAtt": ["Database", "Endpoint.Port"]},
        "MINUTEHAND_DATABASE_NAME": "minutehand",
        "MINUTEHAND_DATABASE_TLS": "verify",
        "MINUTEHAND_DATABASE_IAM": "",
    }
    for name in created.functions:
        assert created.variables(name).items() >= expected.items()
        assert {
            existing.variables(name)[f"MINUTEHAND_DATABASE_{part}"] for part in ("HOST", "PORT", "NAME")
        } == {""}
    assert only(stack, "created", "AWS::RDS::DBCluster")["DatabaseName"] == "minutehand"


@pytest.mark.planted("Endpoint.Address, !Ref DatabaseHost\\]", 'Endpoint.Address, ""]')
@pytest.mark.planted("Endpoint.Port, !Ref DatabasePort\\]", "Endpoint.Port, !Ref DatabaseName]")
@pytest.mark.planted(
    "CreatesDatabase, minutehand, !Ref DatabaseName", "CreatesDatabase, minutehand, minutehand"
)
def test_rds_secret_of_an_existing_database_is_sufficient(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Manager(monkeypatch) as manager:
        settings = {"MINUTEHAND_DATABASE_SECRET": manager.store('{"username": "jobs", "password": "p"}')}
        for port, used in (("", "5432"), ("6432", "6432")):
            deployed = stack.deployed(**CASES["secret of RDS"], DatabasePort=port)
            for name in deployed.functions:
                assert (
                    database_url(deployed.variables(name) | settings)
                    == f"postgresql://jobs:p@{HOST}:{used}/app"
                )


@pytest.mark.planted('\\.lambda"', '.lambdas"')
@pytest.mark.planted("VpcEndpointType: Gateway", "VpcEndpointType: Interface")
@pytest.mark.planted("PrivateDnsEnabled: true", "PrivateDnsEnabled: false")
@pytest.mark.planted("Condition: MakesRoutes", "Condition: MakesEndpoints")
def test_closed_network_gets_only_the_required_endpoints(stack: Stack) -> None:
    endpoints = stack.deployed(**CASES["created, closed network"]).of_type("AWS::EC2::VPCEndpoint")
    services = {
        endpoint["ServiceName"]["Fn::Sub"].rpartition(".")[2]: endpoint for endpoint in endpoints.values()
    }
    interfaces = [services["secretsmanager"], services["lambda"]]

    assert set(services) == {"secretsmanager", "lambda", "s3"}
    assert all(endpoint["PrivateDnsEnabled"] and endpoint["VpcId"] == VPC for endpoint in interfaces)
    assert services["s3"]["VpcEndpointType"] == "Gateway"
    assert services["s3"]["RouteTableIds"] == ROUTES.split(",")
    assert stack.deployed(**CASES["created"]).of_type("AWS::EC2::VPCEndpoint") == {}
    alone = {
        name: value for name, value in CASES["created, closed network"].items() if name != "RouteTableIds"
    }
    assert len(stack.deployed(**alone).of_type("AWS::EC2::VPCEndpoint")) == 2
