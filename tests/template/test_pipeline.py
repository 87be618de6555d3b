"""The pipeline's stack: it starts nothing by default, and its roles have only the permissions of an archive."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cfnlint.api import lint
from samtranslator.yaml_helper import yaml_parse

from tests.template.stack import ROOT, Choice, listed

TEMPLATE = ROOT / "pipeline" / "template.yaml"
REGION = "eu-central-1"
LAKE = "arn:${AWS::Partition}:s3:::${LakeBucket}/${LakePrefix}/*"
PACKAGE = "arn:${AWS::Partition}:s3:::${LakeBucket}/${PackagePrefix}/*"
EXAMPLE = {
    "DatabaseUrlSecretArn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:database",
    "LakeBucket": "example",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "SecurityGroupIds": ["sg-0123456789abcdef0"],
}
KEYS = {
    "KmsKeyArn": "arn:aws:kms:eu-central-1:123456789012:key/one",
    "LakeKmsKeyArn": "arn:aws:kms:eu-central-1:123456789012:key/two",
}


@pytest.fixture
def text(planted: Any) -> str:
    """The pipeline's template, with a planted fault if there is one."""
    content = TEMPLATE.read_text("utf-8")
    if planted is None:
        return content
    content, places = re.subn(planted.pattern, planted.replacement, content, count=1, flags=re.DOTALL)
    assert places, f"the template no longer matches {planted.pattern!r}"
    return content


@pytest.fixture
def template(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml_parse(text)
    return parsed


def deployed(template: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """Return the resources of a deployment, with conditions resolved."""
    defaults = {name: facts.get("Default", "") for name, facts in template["Parameters"].items()}
    choice = Choice({**defaults, **EXAMPLE, **parameters}, template["Conditions"])
    return dict(choice.chosen(template["Resources"]))


def statements(template: dict[str, Any], role: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return what the only policy of a role allows."""
    (policy,) = deployed(template, **parameters)[role]["Properties"]["Policies"]
    return list(policy["PolicyDocument"]["Statement"])


def rights(template: dict[str, Any], role: str, **parameters: Any) -> set[tuple[str, str]]:
    """Return the actions and resources that a role allows."""
    return {
        (action, str(resource))
        for statement in statements(template, role, **parameters)
        for action, resource in product(listed(statement["Action"]), listed(statement["Resource"]))
    }


def job(template: dict[str, Any], schedule: str = "Nightly", **parameters: Any) -> dict[str, Any]:
    """Return a schedule's input to EMR Serverless, with all but AWS's placeholders resolved."""
    text, own = template["Resources"][schedule]["Properties"]["Target"]["Input"]["Fn::Sub"]
    defaults = {name: facts.get("Default", "") for name, facts in template["Parameters"].items()}
    choice = Choice({**defaults, **EXAMPLE, **parameters}, template["Conditions"])
    values = {
        **defaults,
        **EXAMPLE,
        **parameters,
        **{name: choice.chosen(value) for name, value in own.items()},
    }
    filled = re.sub(r"\$\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), text)
    return dict(json.loads(filled))


def configuration(template: dict[str, Any], **parameters: Any) -> dict[str, str]:
    """Return the properties of Spark that all jobs of the application have."""
    (defaults,) = deployed(template, **parameters)["Application"]["Properties"]["RuntimeConfiguration"]
    assert defaults["Classification"] == "spark-defaults"
    text, own = defaults["Properties"]["spark.archives"]["Fn::Sub"]
    return {**defaults["Properties"], "spark.archives": text.replace("${Environment}", own["Environment"])}


@pytest.mark.planted("AutoStopConfiguration:", "AutoStop:")
@pytest.mark.planted('Mode: "OFF"', "Mode: NEVER")
@pytest.mark.planted("!GetAtt JobRole.Arn\n                Cond", "!GetAtt TheRole.Arn\n                Cond")
@pytest.mark.programs
def test_template_passes_the_cloudformation_linter(text: str) -> None:
    assert lint(text, regions=[REGION]) == []


@pytest.mark.planted("Default: DISABLED", "Default: ENABLED")
@pytest.mark.planted("AutoStopConfiguration: {Enabled: true", "AutoStopConfiguration: {Enabled: false")
@pytest.mark.planted('Default: "no"', 'Default: "yes"')
def test_defaults_start_and_drop_nothing(template: dict[str, Any]) -> None:
    resources = deployed(template)

    for schedule in ("Nightly", "NightlyReport"):
        assert resources[schedule]["Properties"]["State"] == "DISABLED"
    assert resources["Application"]["Properties"]["AutoStopConfiguration"]["Enabled"] is True
    assert "--drop" not in job(template)["JobDriver"]["SparkSubmit"]["EntryPointArguments"]
    assert "InitialCapacity" not in resources["Application"]["Properties"]


@pytest.mark.planted("s3:GetObject, s3:PutObject, s3:Del", "s3:PutObjectAcl, s3:PutObject, s3:Del")
@pytest.mark.planted(r"\$\{LakeBucket\}/\$\{LakePrefix\}/\*", "${LakeBucket}/*")
@pytest.mark.planted("Resource: !Ref DatabaseUrlSecretArn", 'Resource: "*"')
@pytest.mark.planted("Action: s3:GetObject\n", 'Action: "s3:*"\n')
def test_job_role_has_least_privilege(template: dict[str, Any]) -> None:
    assert rights(template, "JobRole") == {
        ("s3:ListBucket", _sub("arn:${AWS::Partition}:s3:::${LakeBucket}")),
        *((f"s3:{action}Object", _sub(LAKE)) for action in ("Get", "Put", "Delete")),
        ("s3:AbortMultipartUpload", _sub(LAKE)),
        ("s3:GetObject", _sub(PACKAGE)),
        ("secretsmanager:GetSecretValue", EXAMPLE["DatabaseUrlSecretArn"]),
    }


@pytest.mark.planted(r"s3:prefix: \[.*?\]", 's3:prefix: ["*"]')
def test_job_may_list_only_its_prefixes(template: dict[str, Any]) -> None:
    (listing,) = [each for each in statements(template, "JobRole") if each["Action"] == "s3:ListBucket"]

    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["lake", "lake/*", "minutehand-pipeline/*"]}}


@pytest.mark.planted("- HasKey\n", "- HasLakeKey\n")
@pytest.mark.planted("kms:Decrypt, kms:GenerateDataKey", "kms:Decrypt, kms:CreateGrant")
def test_job_may_use_configured_kms_keys_only(template: dict[str, Any]) -> None:
    def to_keys(**parameters: str) -> set[tuple[str, str]]:
        return {right for right in rights(template, "JobRole", **parameters) if right[0].startswith("kms:")}

    secret, lake = KEYS["KmsKeyArn"], KEYS["LakeKmsKeyArn"]
    assert to_keys() == set()
    assert to_keys(KmsKeyArn=secret) == {("kms:Decrypt", secret)}
    assert to_keys(LakeKmsKeyArn=lake) == {("kms:Decrypt", lake), ("kms:GenerateDataKey", lake)}


@pytest.mark.planted("Action: emr-serverless:StartJobRun", 'Action: "emr-serverless:*"')
@pytest.mark.planted("Resource: !GetAtt JobRole.Arn", 'Resource: "*"')
@pytest.mark.planted("Condition: {StringEquals: {iam:PassedToService: [^}]*}}", "Sid: Pass")
def test_schedule_role_has_least_privilege(template: dict[str, Any]) -> None:
    assert statements(template, "ScheduleRole") == [
        {
            "Effect": "Allow",
            "Action": "emr-serverless:StartJobRun",
            "Resource": {"Fn::GetAtt": ["Application", "Arn"]},
        },
        {
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": {"Fn::GetAtt": ["JobRole", "Arn"]},
            "Condition": {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
        },
    ]


@pytest.mark.planted("ArnEquals: {aws:SourceArn: !GetAtt Application.Arn}", 'ArnLike: {aws:SourceArn: "*"}')
@pytest.mark.planted("Principal: {Service: emr-serverless.amazonaws.com}", 'Principal: {AWS: "*"}')
@pytest.mark.planted("Condition: {StringEquals: {aws:SourceAccount: [^}]*}}", "Sid: Any")
def test_roles_trust_only_their_services(template: dict[str, Any]) -> None:
    account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    application = {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["Application", "Arn"]}}}
    wanted = {
        "JobRole": ("emr-serverless.amazonaws.com", {**account, **application}),
        "ScheduleRole": ("scheduler.amazonaws.com", account),
    }
    roles = {name: each for name, each in template["Resources"].items() if each["Type"] == "AWS::IAM::Role"}

    assert roles.keys() == wanted.keys()
    for name, role in roles.items():
        (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        service, condition = wanted[name]
        assert statement["Principal"] == {"Service": service}
        assert statement.get("Condition") == condition


@pytest.mark.planted(r'"\$\{Package\}/main.py"', '"${Package}/app.py"')
def test_schedule_starts_the_package(template: dict[str, Any]) -> None:
    submit = job(template, Drop="yes")["JobDriver"]["SparkSubmit"]

    assert submit["EntryPoint"] == "s3://example/minutehand-pipeline/main.py"
    assert (ROOT / "pipeline" / Path(submit["EntryPoint"]).name).exists()
    assert submit["EntryPointArguments"] == ["archive", "s3://example/lake", "--drop"]


@pytest.mark.planted("#environment", "#env")
@pytest.mark.planted("spark.executorEnv.MINUTEHAND_DATABASE_SECRET", "spark.executorEnv.DATABASE_SECRET")
@pytest.mark.planted("spark.emr-serverless.driverEnv.PYSPARK_PYTHON: ", "spark.driverEnv.PYSPARK_PYTHON: ")
def test_application_configures_all_jobs(template: dict[str, Any]) -> None:
    conf = configuration(template)

    assert conf["spark.archives"].endswith("/minutehand-pipeline-3.11-x86_64.tar.gz#environment")
    for place in ("spark.emr-serverless.driverEnv", "spark.executorEnv"):
        assert conf[f"{place}.PYSPARK_PYTHON"] == "./environment/bin/python"
        assert conf[f"{place}.MINUTEHAND_DATABASE_SECRET"] == EXAMPLE["DatabaseUrlSecretArn"]


@pytest.mark.planted("PipelineEntryPoint:", "EntryPoint:")
@pytest.mark.planted(r"Value: !GetAtt JobRole.Arn", "Value: !GetAtt ScheduleRole.Arn")
def test_outputs_are_parameters_of_the_queues_stack(template: dict[str, Any]) -> None:
    parameters = yaml_parse((ROOT / "template.yaml").read_text("utf-8"))["Parameters"]
    outputs = {name: each["Value"] for name, each in template["Outputs"].items()}

    assert outputs.keys() == {name for name in parameters if name.startswith("Pipeline")}
    assert outputs["PipelineApplicationId"] == {"Ref": "Application"}
    assert outputs["PipelineRoleArn"] == {"Fn::GetAtt": ["JobRole", "Arn"]}
    assert outputs["PipelineEntryPoint"] == {"Fn::Sub": "s3://${LakeBucket}/${PackagePrefix}/main.py"}


@pytest.mark.planted('"report", "s3', '"archive", "s3')
@pytest.mark.planted('"--out", ', "")
def test_report_schedule_writes_below_the_lake(template: dict[str, Any]) -> None:
    submit = job(template, "NightlyReport")["JobDriver"]["SparkSubmit"]

    assert submit["EntryPoint"] == "s3://example/minutehand-pipeline/main.py"
    assert submit["EntryPointArguments"] == [
        "report",
        "s3://example/lake",
        "--out",
        "s3://example/lake/report",
    ]
    assert deployed(template, ReportSchedule="ENABLED")["NightlyReport"]["Properties"]["State"] == "ENABLED"


@pytest.mark.planted(r"\[IsArm, ARM64, X86_64\]", "[IsArm, X86_64, ARM64]")
@pytest.mark.planted("3.11-aarch64", "3.11-arm64")
def test_package_is_that_of_the_architecture(template: dict[str, Any]) -> None:
    for architecture, machine in (("x86_64", "x86_64"), ("arm64", "aarch64")):
        application = deployed(template, Architecture=architecture)["Application"]["Properties"]
        assert application["Architecture"] == architecture.upper()
        usual, named = (
            configuration(template, Architecture=architecture, PackageName=name)["spark.archives"]
            for name in ("", "mine.tar.gz")
        )
        assert usual.endswith(f"/minutehand-pipeline-3.11-{machine}.tar.gz#environment")
        assert named.endswith("/mine.tar.gz#environment")


def _sub(text: str) -> str:
    resolved = text.replace("${LakeBucket}", "example").replace("${LakePrefix}", "lake")
    return str({"Fn::Sub": resolved.replace("${PackagePrefix}", "minutehand-pipeline")})
