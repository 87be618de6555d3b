"""Table: every setting of minutehand, declared once.

A declaration documents, parses and validates an environment variable. `CAPACITY.read()` returns its value; nothing is
read when this module is imported. The table in docs/settings.md is generated from these declarations.
"""

from minutehand.settings.database_table import (
    CONNECT_TIMEOUT,
    DATABASE_HOST,
    DATABASE_IAM,
    DATABASE_NAME,
    DATABASE_PORT,
    DATABASE_SECRET,
    DATABASE_TLS,
    DATABASE_URL,
    PREPARE,
)
from minutehand.settings.declaring import (
    SETTINGS,
    declare,
    declare_flag,
    declare_items,
    declare_secret,
    declare_text,
)
from minutehand.settings.flow_table import (
    CAPACITY,
    CHUNK,
    CONCURRENCY,
    DISPATCHER_NAME,
    GRACE,
    JOBS_PER_INVOCATION,
    MODE,
    OFFER_TTL,
    WAKEUP_GROUP,
    WAKEUP_ROLE,
    WAKEUP_TARGET,
    WORKER_NAME,
    WORKER_ROUTES,
)
from minutehand.settings.kinds import LIST, TEXT, choice
from minutehand.settings.masks import mask_database_url, mask_sinks
from minutehand.settings.processes import (
    API,
    CLI,
    DISPATCHER,
    EVERYWHERE,
    HANDLING,
    LIBRARY,
    TESTS,
    WORKER,
)

__all__ = [
    "CAPACITY",
    "CHUNK",
    "CONCURRENCY",
    "CONNECT_TIMEOUT",
    "DATABASE_HOST",
    "DATABASE_IAM",
    "DATABASE_NAME",
    "DATABASE_PORT",
    "DATABASE_SECRET",
    "DATABASE_TLS",
    "DATABASE_URL",
    "DISPATCHER_NAME",
    "GRACE",
    "JOBS_PER_INVOCATION",
    "MODE",
    "OFFER_TTL",
    "PREPARE",
    "SETTINGS",
    "WAKEUP_GROUP",
    "WAKEUP_ROLE",
    "WAKEUP_TARGET",
    "WORKER_NAME",
    "WORKER_ROUTES",
]

SCHEDULES = declare_text(
    "MINUTEHAND_SCHEDULES", "The schedules to install at the first tick, as module:NAME.", DISPATCHER
)
SOURCE = declare(
    "MINUTEHAND_SOURCE",
    TEXT,
    "deploy",
    "Source of the schedules and limits that are installed at the first tick; others are not changed.",
    DISPATCHER,
)
VERSION = declare_text(
    "MINUTEHAND_VERSION",
    "Version of your code, stored with each attempt; the worker's default is its function version.",
    DISPATCHER,
    WORKER,
    CLI,
)
HANDLERS = declare_items(
    "MINUTEHAND_HANDLERS",
    "Modules and packages with handlers, searched in this order and before handlers/.",
    *HANDLING,
)
OTHER_KINDS = declare_items(
    "MINUTEHAND_OTHER_KINDS",
    "Kinds that may be enqueued although no module of MINUTEHAND_HANDLERS has them, such as `billing.*`.",
    *HANDLING,
)
MIDDLEWARE = declare_text(
    "MINUTEHAND_MIDDLEWARE",
    "The module that contains middleware; if empty, handlers/_middleware.py.",
    WORKER,
    LIBRARY,
)
METRICS_NAMESPACE = declare(
    "POWERTOOLS_METRICS_NAMESPACE",
    TEXT,
    "minutehand",
    "Namespace of the metrics in CloudWatch; the alarms of the stack use that of the stack.",
    API,
    DISPATCHER,
    WORKER,
)
TRACING = declare(
    "MINUTEHAND_TRACING",
    choice("otel", "xray"),
    "",
    "Record enqueues, ticks, claims and attempts as spans of OpenTelemetry or as subsegments of X-Ray.",
    *EVERYWHERE,
)
METRICS = declare(
    "MINUTEHAND_METRICS",
    choice("otel"),
    "",
    "Record metrics with OpenTelemetry, besides those of CloudWatch.",
    *EVERYWHERE,
)
REDACT_ERRORS = declare_flag(
    "MINUTEHAND_REDACT_ERRORS",
    "Store only an id for an unexpected error; the log contains the error.",
    WORKER,
    LIBRARY,
)

ENCRYPTION_KEY = declare_secret(
    "MINUTEHAND_ENCRYPTION_KEY",
    "The key that encrypts and decrypts payloads: 32 bytes as base64 or hex, or the ARN of a KMS key.",
    *EVERYWHERE,
)
PREVIOUS_ENCRYPTION_KEYS = declare_secret(
    "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS", "Keys that only decrypt, separated by commas.", *EVERYWHERE
)
ENCRYPT_RESULTS = declare_flag("MINUTEHAND_ENCRYPT_RESULTS", "Encrypt results too.", *EVERYWHERE)
ENCRYPTION_REQUIRED = declare_flag(
    "MINUTEHAND_ENCRYPTION_REQUIRED",
    "Refuse to run a job whose payload is not encrypted; the job becomes dead.",
    *EVERYWHERE,
)

EVENTS = declare(
    "MINUTEHAND_EVENTS",
    LIST,
    "",
    "Sinks for events: table, webhook:URL, eventbridge:BUS, sns:ARN.",
    *EVERYWHERE,
    mask=mask_sinks,
)
EVENTS_ONLY = declare(
    "MINUTEHAND_EVENTS_ONLY", LIST, "", "Send only these events; empty sends all.", *EVERYWHERE
)
EVENTS_SECRETS = declare_secret(
    "MINUTEHAND_EVENTS_SECRETS",
    "Secrets that sign events to webhooks, as whsec_..., separated by commas.",
    API,
    DISPATCHER,
    WORKER,
    LIBRARY,
)
HOOKS = declare(
    "MINUTEHAND_HOOKS",
    LIST,
    "",
    "Modules that register hooks, imported at the first event.",
    DISPATCHER,
    WORKER,
    LIBRARY,
)

HTTP_SECRETS = declare_secret(
    "MINUTEHAND_HTTP_SECRETS",
    "Secrets that sign and verify HTTP deliveries, as whsec_..., separated by commas.",
    WORKER,
    LIBRARY,
)
HTTP_UNSIGNED = declare_flag(
    "MINUTEHAND_HTTP_UNSIGNED",
    "Deliver unsigned if there is no secret; without this flag, the job becomes dead.",
    WORKER,
)
HTTP_ALLOW = declare_items(
    "MINUTEHAND_HTTP_ALLOW",
    "Hosts, addresses and networks that may receive deliveries even if they are not public.",
    WORKER,
)
HTTP_REDIRECTS = declare_flag("MINUTEHAND_HTTP_REDIRECTS", "Follow up to three redirects.", WORKER)
PIPELINE_APPLICATION = declare_text(
    "MINUTEHAND_PIPELINE_APPLICATION", "Application of EMR Serverless that runs the kind `pipeline`.", WORKER
)
PIPELINE_ROLE = declare_text(
    "MINUTEHAND_PIPELINE_ROLE", "ARN of the role of that application's jobs.", WORKER
)
PIPELINE_ENTRY_POINT = declare_text(
    "MINUTEHAND_PIPELINE_ENTRY_POINT", "S3 address of the pipeline's `main.py`.", WORKER
)
BASE_URL = declare_text(
    "MINUTEHAND_BASE_URL", "URL of your application, which precedes the paths of its routes.", LIBRARY
)

API_TOKENS = declare_secret(
    "MINUTEHAND_API_TOKENS", "Bearer tokens, separated by commas, each as [name[@tenant][+read]:]token.", API
)
ROLE_CLAIM = declare_text("MINUTEHAND_ROLE_CLAIM", "The authorizer's claim with `operator` or `reader`.", API)
TENANT_CLAIM = declare_text(
    "MINUTEHAND_TENANT_CLAIM", "The authorizer's claim that contains the caller's tenant.", API
)
CONSOLE = declare_flag("MINUTEHAND_CONSOLE", "Serve the console; a local run always serves it.", API)
LOCAL = declare_flag(
    "MINUTEHAND_LOCAL",
    "Accept requests from this machine without a token or signature; ignored in Lambda.",
    LIBRARY,
)
TEST_DATABASE_URL = declare_text(
    "MINUTEHAND_TEST_DATABASE_URL",
    "The server for `minutehand.testing`; if empty, a server from the wheel.",
    TESTS,
    mask=mask_database_url,
)
