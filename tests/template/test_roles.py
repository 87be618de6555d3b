"""Every role has only the permissions of its function."""

import pytest

from tests.template.cases import CASES, KEY, SECRET
from tests.template.permissions import (
    ATTACHED,
    DISPATCHER,
    FUNCTION,
    INVOKES,
    READS,
    ROLES,
    STARS,
    TO_CONNECT,
    TO_CREATE_WAKEUPS,
    TO_ENCRYPT,
    TO_RUN_THE_PIPELINE,
    TO_TELL,
    WAKEUPS,
    WRITES_LOGS,
    invocations,
    rights,
    rights_of,
)
from tests.template.stack import Stack, arn, policies_of


@pytest.mark.planted("Action: sqs:SendMessage", 'Action: "sqs:*"')
@pytest.mark.planted("Resource: !GetAtt WorkerFailures.Arn", 'Resource: "*"')
@pytest.mark.planted("Action: lambda:InvokeFunction(\n +Resource)", r"NotAction: lambda:InvokeFunction\1")
@pytest.mark.planted("ec2:DescribeSubnets", "ec2:DescribeInstances")
@pytest.mark.planted("Resource: \\*dispatcher", "Resource: !Sub arn:aws:lambda:eu-central-1:*:function:*")
@pytest.mark.planted("worker:live\n", "worker-*\n")
@pytest.mark.planted("/wake-\\*", "/*")
@pytest.mark.planted("Action: rds-db:connect", 'Action: "rds-db:*"')
@pytest.mark.planted("dbuser:\\${DatabaseIam}", "dbuser:*")
@pytest.mark.planted("Action: kms:Decrypt, Resource: !Ref KmsKeyArn", 'Action: kms:Decrypt, Resource: "*"')
def test_wildcard_permissions_are_listed_with_a_reason(stack: Stack) -> None:
    seen = set()
    for role in stack.of_type("AWS::IAM::Role"):
        for action, resource in rights(stack, role):
            assert "*" not in action
            if "*" in str(resource):
                if action in ("scheduler:CreateSchedule", "scheduler:DeleteSchedule"):
                    assert resource in ({"Fn::Sub": f"{WAKEUPS}wake-*"}, {"Fn::Sub": f"{WAKEUPS}watch-*"})
                    continue
                assert resource == "*"
                assert action in STARS
                seen.add(action)
    assert seen == set(STARS)


@pytest.mark.planted(
    r"ManagedPolicyArns:\n( +)- !Ref ReachPostgres",
    r"ManagedPolicyArns:\n\1- arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
)
@pytest.mark.planted("      Role: !GetAtt ApiRole.Arn\n", "")
@pytest.mark.planted("Role: !GetAtt ApiRole.Arn", "Role: !GetAtt WorkerRole.Arn")
def test_every_function_has_an_explicit_role(stack: Stack) -> None:
    for role in stack.of_type("AWS::IAM::Role").values():
        assert all(policy in [{"Ref": name} for name in ATTACHED] for policy in policies_of(role))
    assert sorted(ROLES) == sorted(map(stack.role_of, stack.functions))
    assert {*ROLES, "ScheduleRole"} == set(stack.of_type("AWS::IAM::Role"))
    assert set(stack.of_type("AWS::IAM::ManagedPolicy")) == ATTACHED


@pytest.mark.planted("worker:live\n", "worker:*\n")
@pytest.mark.planted("function:\\${AWS::StackName}-worker\n", "function:${AWS::StackName}-api\n")
@pytest.mark.planted("Action: sqs:SendMessage", "Action: lambda:InvokeFunction")
@pytest.mark.planted("Action: sqs:SendMessage", "Action: lambda:InvokeAsync")
@pytest.mark.planted("Resource: \\*dispatcher", "Resource: !GetAtt WorkerFunction.Arn")
def test_functions_are_invoked_only_by_schedule_and_dispatcher(
    stack: Stack,
) -> None:
    workers = [(INVOKES, {"Fn::Sub": FUNCTION}), (INVOKES, {"Fn::Sub": FUNCTION + ":live"})]
    dispatcher = (INVOKES, {"Fn::Sub": DISPATCHER})
    for case, parameters in CASES.items():
        deployed = stack.deployed(**parameters)
        # Besides the schedule, the dispatcher invokes itself, to forward the invitations of a large tick. Only in the
        # mode prompt may the functions that enqueue invoke anything.
        dispatching = [*workers, dispatcher]
        enqueuing = dispatching if case == "prompt" else []
        assert invocations(deployed) == {
            "ScheduleRole": [(INVOKES, {"Fn::Sub": DISPATCHER})],
            "DispatcherRole": dispatching,
            "WorkerRole": enqueuing,
            "ApiRole": enqueuing,
            "MigrateRole": [],
        }
        worker = deployed.variables("DispatcherFunction")["MINUTEHAND_WORKER"]
        if case == "snapshots":
            (live,) = [
                a for name, a in deployed.of_type("AWS::Lambda::Alias").items() if name == worker["Ref"]
            ]
            assert (live["FunctionName"], live["Name"]) == ({"Ref": "WorkerFunction"}, "live")
        else:
            assert FUNCTION.endswith(worker["Fn::Sub"])


@pytest.mark.planted("- &network !If \\[InVpc, !Ref UseNetwork", "- &network !If [OnArm, !Ref UseNetwork")
@pytest.mark.planted("- &traces !If \\[Traces", "- &traces !If [OnX86")
@pytest.mark.planted("- &key !If \\[HasKey, !Ref UseKey, !Ref AWS::NoValue\\]", "- &key !Ref AWS::NoValue")
def test_role_has_only_the_permissions_of_its_deploy_case(stack: Stack) -> None:
    wanted = {
        "existing": set(),
        "created": {"UseNetwork"},
        "created, closed network": {"UseNetwork", "UseKey"},
        "snapshots": {"WriteTraces"},
        "events": {"TellEvents"},
        "asleep": {"CreateWakeups"},
    }
    for case, policies in wanted.items():
        for name, role in stack.deployed(**CASES[case]).of_type("AWS::IAM::Role").items():
            attached = {policy["Ref"] for policy in role.get("ManagedPolicyArns", [])}
            needed = policies - ({"TellEvents", "CreateWakeups"} if name == "MigrateRole" else set())
            assert attached == (set() if name == "ScheduleRole" else {"ReachPostgres", *needed})


@pytest.mark.planted("Action: sqs:SendMessage", "Action: [sqs:SendMessage, sqs:ReceiveMessage]")
@pytest.mark.planted(
    " +- Effect: Allow\n +Action: sqs:SendMessage\n +Resource: !GetAtt WorkerFailures.Arn\n", ""
)
def test_worker_role_covers_its_log_failures_and_secrets(stack: Stack) -> None:
    destination = stack.of_type("AWS::Lambda::EventInvokeConfig")["WorkerFunctionEventInvokeConfig"]
    failures = destination["DestinationConfig"]["OnFailure"]["Destination"]

    own = [right for right in rights_of(stack, "WorkerFunction") if right[0] not in STARS]

    theirs = {*WRITES_LOGS, *TO_CONNECT, *TO_ENCRYPT, *TO_TELL, *TO_CREATE_WAKEUPS, *TO_RUN_THE_PIPELINE}
    assert {action for action, _ in own} == {
        "sqs:SendMessage",
        "scheduler:DeleteSchedule",
        READS,
        INVOKES,
        *theirs,
    }
    assert [failures] == [resource for action, resource in own if action == "sqs:SendMessage"]


@pytest.mark.planted("Resource: !GetAtt ApiLogs.Arn", "Resource: !GetAtt WorkerLogs.Arn")
@pytest.mark.planted("logs:CreateLogStream, logs:PutLogEvents", "logs:CreateLogGroup, logs:PutLogEvents")
def test_function_writes_only_to_its_own_log(stack: Stack) -> None:
    for name, function in stack.functions.items():
        group = function["LoggingConfig"]["LogGroup"]["Ref"]
        written = {
            (action, str(resource)) for action, resource in rights_of(stack, name) if action[:5] == "logs:"
        }

        assert written == {(action, str(arn(group))) for action in WRITES_LOGS}


@pytest.mark.planted("Resource: !Ref ApiTokensSecretArn", "Resource: !Ref HttpSecretsSecretArn")
@pytest.mark.planted(r"Resource: \*secret", "Resource: !Ref ApiTokensSecretArn")
@pytest.mark.planted("Resource: !Ref MigrateSecretArn", "Resource: !Ref DatabaseUrlSecretArn")
@pytest.mark.planted("MINUTEHAND_DATABASE_SECRET: &secret", "DATABASE_SECRET: &secret")
@pytest.mark.planted(r"!If \[MigratesAsOwner, !Ref AWS::NoValue, !Ref ReachPostgres\]", "!Ref ReachPostgres")
def test_function_reads_only_the_secrets_in_its_variables(stack: Stack) -> None:
    for parameters in CASES.values():
        deployed = stack.deployed(**parameters)
        policies = deployed.of_type("AWS::IAM::ManagedPolicy")
        for name, function in deployed.functions.items():
            role = deployed.of_type("AWS::IAM::Role")[function["Role"]["Fn::GetAtt"][0]]
            attached = [policies[policy["Ref"]] for policy in role["ManagedPolicyArns"]]
            readable = [
                statement["Resource"]
                for policy in [*role["Policies"], *attached]
                for statement in policy["PolicyDocument"]["Statement"]
                if statement["Action"] == READS
            ]
            variables = deployed.variables(name)
            named = [value for variable, value in variables.items() if variable.endswith("_SECRET") and value]

            assert sorted(map(str, named)) == sorted(map(str, readable))
            assert "MINUTEHAND_DATABASE_SECRET" in variables


@pytest.mark.planted(
    "!If \\[ServesAsItself, !Ref ApiSecretArn", "!If [ServesAsItself, !Ref DatabaseUrlSecretArn"
)
@pytest.mark.planted('!If \\[ServesAsItself, "",', "!If [ServesAsItself, '1',")
def test_api_may_have_its_own_database_user(stack: Stack) -> None:
    parameters = CASES["tokens of RDS"]
    api = stack.deployed(**parameters).variables("ApiFunction")
    shared = stack.deployed(**{**parameters, "ApiSecretArn": ""}).variables("ApiFunction")

    assert (api["MINUTEHAND_DATABASE_SECRET"], api["MINUTEHAND_DATABASE_IAM"]) == (
        parameters["ApiSecretArn"],
        "",
    )
    assert shared["MINUTEHAND_DATABASE_SECRET"] == parameters["DatabaseUrlSecretArn"]
    assert shared["MINUTEHAND_DATABASE_IAM"] == "1"


@pytest.mark.planted("Service: scheduler.amazonaws.com", 'AWS: "*"')
@pytest.mark.planted("Service: lambda.amazonaws.com", "Service: ec2.amazonaws.com")
@pytest.mark.planted("Condition: {StringEquals: {aws:SourceAccount: !Ref AWS::AccountId}}", "Sid: Tick")
def test_roles_trust_only_lambda_and_the_schedules_of_the_stack(stack: Stack) -> None:
    own_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    for name, role in stack.of_type("AWS::IAM::Role").items():
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        scheduled = name == "ScheduleRole"

        assert statement["Principal"] == {
            "Service": f"{'scheduler' if scheduled else 'lambda'}.amazonaws.com"
        }
        assert statement.get("Condition") == (own_account if scheduled else None)


@pytest.mark.planted("&encryption !If \\[Encrypts", "&encryption !If [OnArm")
@pytest.mark.planted("!If \\[Encrypts, !Ref EncryptPayloads", "!If [Encrypts, !Ref UseEncryption")
@pytest.mark.planted("Action: kms:GenerateDataKey, Resource", "Action: kms:Decrypt, Resource")
@pytest.mark.planted("Action: \\[kms:GenerateDataKey, kms:Decrypt\\]", "Action: kms:Decrypt")
@pytest.mark.planted("Resource: !Ref EncryptionKmsKeyArn", "Resource: !Ref KmsKeyArn")
def test_functions_may_use_only_the_encryption_key(
    stack: Stack,
) -> None:
    for case, parameters in CASES.items():
        deployed = stack.deployed(**parameters)
        may = {
            name
            for name, role in deployed.of_type("AWS::IAM::Role").items()
            if {"Ref": "UseEncryption"} in role.get("ManagedPolicyArns", [])
        }
        encrypted = case in ("x86", "encrypted by KMS")
        assert may == ({"ApiRole", "WorkerRole"} if encrypted else set())
    policies = stack.deployed(**CASES["encrypted by KMS"]).of_type("AWS::IAM::ManagedPolicy")
    assert policies["EncryptPayloads"]["PolicyDocument"]["Statement"] == [
        {"Effect": "Allow", "Action": "kms:GenerateDataKey", "Resource": KEY}
    ]
    assert policies["UseEncryption"]["PolicyDocument"]["Statement"] == [
        {"Effect": "Allow", "Action": ["kms:GenerateDataKey", "kms:Decrypt"], "Resource": KEY}
    ]
    policies = stack.deployed(**CASES["x86"]).of_type("AWS::IAM::ManagedPolicy")
    assert [each["Resource"] for each in policies["UseEncryption"]["PolicyDocument"]["Statement"]] == [
        f"{SECRET}encryption",
        f"{SECRET}before",
    ]
