"""Signing in to RDS without a password: a token that is signed here, and is good for a quarter of an hour."""

import re
from urllib.parse import urlencode

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest

from minutehand.aws.role import credentials, region

GOOD_FOR = 900
OF_RDS = re.compile(
    r"\.(?:([a-z0-9-]+)\.rds|rds\.([a-z0-9-]+))\.amazonaws\.", re.IGNORECASE
)  # the second is China's


def database_token(host: str, port: int, user: str) -> str:
    """Return what RDS takes as the password of a user; nobody is asked for it.

    It is signed for the region that the host's name tells, and that of the environment otherwise.
    """
    named = OF_RDS.search(host)
    words = urlencode({"Action": "connect", "DBUser": user})
    request = AWSRequest("GET", f"https://{host}:{port}/?{words}")
    where = (named[1] or named[2]).lower() if named else region()
    signer = SigV4QueryAuth(credentials(), "rds-db", where, expires=GOOD_FOR)
    signer.add_auth(request)
    return str(request.url).removeprefix("https://")
