"""Tokens: authenticate to RDS with a token that is signed locally and valid for 15 minutes."""

import re

from minutehand.aws.role import credentials, region
from minutehand.aws.signing import signed_query

VALID_SECONDS = 900
# The second alternative is China's.
OF_RDS = re.compile(r"\.(?:([a-z0-9-]+)\.rds|rds\.([a-z0-9-]+))\.amazonaws\.", re.IGNORECASE)


def database_token(host: str, port: int, user: str) -> str:
    """Return a token that RDS accepts as the user's password; no request is made.

    It is signed for the region in the host's name, or else for the region of the environment.
    """
    match = OF_RDS.search(host)
    where = (match[1] or match[2]).lower() if match else region()
    place, query = f"{host}:{port}", {"Action": "connect", "DBUser": user}
    return f"{place}/?{signed_query(place, query, credentials(), 'rds-db', where, VALID_SECONDS)}"
