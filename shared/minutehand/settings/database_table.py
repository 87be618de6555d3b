"""The settings of the connection to the database; see `table`."""

from minutehand.settings.declaring import declare, declare_flag, declare_text
from minutehand.settings.kinds import choice, integer
from minutehand.settings.masks import mask_database_url
from minutehand.settings.processes import EVERYWHERE

DATABASE_URL = declare_text(
    "DATABASE_URL",
    "The database, as postgresql://user:password@host/database.",
    *EVERYWHERE,
    mask=mask_database_url,
)
DATABASE_SECRET = declare_text(
    "MINUTEHAND_DATABASE_SECRET",
    "Name or ARN of a secret in Secrets Manager that holds the URL or RDS's JSON; read if DATABASE_URL is empty.",
    *EVERYWHERE,
)
DATABASE_HOST = declare_text(
    "MINUTEHAND_DATABASE_HOST", "The host, if the database secret does not contain it.", *EVERYWHERE
)
DATABASE_PORT = declare(
    "MINUTEHAND_DATABASE_PORT",
    integer(1, 65535),
    5432,
    "The port, if the database secret does not contain it.",
    *EVERYWHERE,
)
DATABASE_NAME = declare_text(
    "MINUTEHAND_DATABASE_NAME",
    "The database's name, if the database secret does not contain it.",
    *EVERYWHERE,
)
DATABASE_IAM = declare_flag(
    "MINUTEHAND_DATABASE_IAM", "Authenticate with a signed RDS token instead of a password.", *EVERYWHERE
)
DATABASE_TLS = declare(
    "MINUTEHAND_DATABASE_TLS",
    choice("verify"),
    "",
    "`verify` verifies the server's certificate, unless the URL contains `sslmode`.",
    *EVERYWHERE,
)
CONNECT_TIMEOUT = declare(
    "MINUTEHAND_CONNECT_TIMEOUT",
    integer(1, 900, "seconds"),
    5,
    "Time limit for opening a connection, including retries.",
    *EVERYWHERE,
)
PREPARE = declare(
    "MINUTEHAND_PREPARE",
    choice("auto", "always", "never"),
    "auto",
    "Whether to prepare statements; `auto` prepares on connections without a transaction pooler.",
    *EVERYWHERE,
)
