"""Deploy cases by name. Together they cover every branch of every condition."""

from typing import Any

SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"
KEY = "arn:aws:kms:eu-central-1:123456789012:key/0b1c2d3e-0000-4000-8000-000000000000"
TOPIC = "arn:aws:sns:eu-central-1:123456789012:on-call"
BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/jobs"
ISSUER = "https://login.example.com/"
SUBNETS = "subnet-0123456789abcdef0,subnet-0123456789abcdef1"
GROUP = "sg-0123456789abcdef0"
VPC = "vpc-0123456789abcdef0"
HOST = "db.cluster-abcdefghij.eu-central-1.rds.amazonaws.com"
ROUTES = "rtb-0123456789abcdef0,rtb-0123456789abcdef1"

EXISTING = {"DatabaseUrlSecretArn": f"{SECRET}database", "ApiTokensSecretArn": f"{SECRET}tokens"}
CREATED = {
    "CreateDatabase": "yes",
    "VpcId": VPC,
    "SubnetIds": SUBNETS,
    "ApiTokensSecretArn": f"{SECRET}tokens",
}

CASES: dict[str, dict[str, Any]] = {
    "existing": EXISTING,
    "created": CREATED,
    "created, closed network": {
        **CREATED,
        "CreateEndpoints": "yes",
        "RouteTableIds": ROUTES,
        "SecurityGroupIds": GROUP,
        "KmsKeyArn": KEY,
        "DatabaseMinCapacity": 2,
        "DatabaseDeletionProtection": "no",
    },
    "network": {**EXISTING, "SubnetIds": SUBNETS, "SecurityGroupIds": GROUP},
    "tokens of RDS": {
        **EXISTING,
        "DatabaseIam": "cluster-ABCDEFGHIJ/minutehand",
        "MigrateSecretArn": f"{SECRET}owner",
        "ApiSecretArn": f"{SECRET}desk",
    },
    "secret of RDS": {**EXISTING, "DatabaseHost": HOST, "DatabaseName": "app"},
    "jwt": {
        **EXISTING,
        "ApiAuth": "jwt",
        "ApiTokensSecretArn": "",
        "JwtIssuer": ISSUER,
        "JwtAudience": "jobs,ops",
    },
    "iam": {**EXISTING, "ApiAuth": "iam", "ApiTokensSecretArn": ""},
    "events": {
        **EXISTING,
        "Events": "table,webhook:https://example.com/hooks",
        "EventBusArn": BUS,
        "EventTopicArn": TOPIC,
        "EventsOnly": "dead,cancelled",
        "EventsSecretsSecretArn": f"{SECRET}events",
    },
    "snapshots": {**EXISTING, "SnapStart": "on", "Release": "7", "AlarmTopicArn": TOPIC, "Tracing": "Active"},
    "x86": {
        **EXISTING,
        "Architecture": "x86_64",
        "WorkerReservedConcurrency": 50,
        "DispatcherReservedConcurrency": 1,
        "ApiReservedConcurrency": 20,
        "HttpSecretsSecretArn": f"{SECRET}http",
        "Schedule": "DISABLED",
        "CreateAlarms": "no",
        "EncryptionSecretArn": f"{SECRET}encryption",
        "PreviousEncryptionSecretArn": f"{SECRET}before",
        "EncryptResults": "1",
    },
    "prompt": {**EXISTING, "Mode": "prompt"},
    "encrypted by KMS": {**EXISTING, "EncryptionKmsKeyArn": KEY, "EncryptionRequired": "1"},
    "asleep": {**EXISTING, "Mode": "sleep", "SweepMinutes": 120},
    "asleep, closed network": {**CREATED, "CreateEndpoints": "yes", "Mode": "sleep"},
    "pipeline": {
        **EXISTING,
        "PipelineApplicationId": "00fabcdefghijklm",
        "PipelineRoleArn": "arn:aws:iam::123456789012:role/pipeline-jobs",
        "PipelineEntryPoint": "s3://bucket/minutehand-pipeline/main.py",
    },
    "own handlers": {
        **EXISTING,
        "HandlersLayer": "arn:aws:lambda:eu-central-1:123456789012:layer:handlers:1",
    },
}
