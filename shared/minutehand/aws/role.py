"""Role: the credentials, region and endpoints that requests are signed for.

On Lambda all of them are in variables. Only other cases import botocore, which is slow.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

from minutehand.aws.signing import Credentials
from minutehand.errors import ConfigurationError

# Most regions: those of the partition `aws`, by its own pattern.
COMMON_REGION = re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+")
VARIANTS = ("AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT")

# One thread of a fan-out looks for credentials, the others wait for it.
_lock = Lock()


def credentials(environment: Mapping[str, str] = os.environ) -> Credentials:
    """Return the current credentials; outside Lambda the first call creates a session, which takes half a second."""
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if key and secret:
        return Credentials(key, secret, environment.get("AWS_SESSION_TOKEN"))
    return _found_credentials()


def region(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region of the environment or of the profile."""
    if found := known_region(environment):
        return found
    if found := _region_from_session():
        return found
    raise ConfigurationError("AWS_REGION is not set; set it to a region, such as eu-west-1")


def known_region(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the region of the environment, if it is set; it is in Lambda."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or None


def endpoint(service: str, region: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of a service: AWS_ENDPOINT_URL_<SERVICE>, or the endpoint in the region's partition."""
    specific = environment.get(f"AWS_ENDPOINT_URL_{service.upper().replace(' ', '_')}")
    if url := specific or environment.get("AWS_ENDPOINT_URL"):
        return url.rstrip("/")
    fips, dual = (environment.get(name, "").lower() == "true" for name in VARIANTS)
    name = service.lower().replace(" ", "") + "-fips" * fips
    if COMMON_REGION.fullmatch(region):
        suffix = "api.aws" if dual else "amazonaws.com"
    else:
        suffix = _partition(region)["dualStackDnsSuffix" if dual else "dnsSuffix"]
    return f"https://{name}.{region}.{suffix}"


def _partition(region: str) -> dict[str, str]:
    from botocore.endpoint_provider import RuleSetStandardLibrary
    from botocore.loaders import Loader

    found: dict[str, str] = RuleSetStandardLibrary(Loader().load_data("partitions")).aws_partition(region)
    return found


def _found_credentials() -> Credentials:
    from botocore.exceptions import BotoCoreError

    try:
        with _lock:
            found = _source().get_frozen_credentials()
    except BotoCoreError as error:
        raise ConfigurationError(f"the AWS credentials cannot be read: {error}") from error
    return Credentials(found.access_key, found.secret_key, found.token)


@cache
def _source() -> Any:
    """Return credentials that renew themselves, found in botocore's order: a profile precedes a container's address.

    On Lambda with SnapStart only that address has some, and a session takes long to create.
    """
    found = (_of_container() if "AWS_LAMBDA_FUNCTION_NAME" in os.environ else None) or _of_session()
    if found is None:
        raise ConfigurationError("AWS credentials are missing; set AWS_PROFILE to a profile")
    return found


def _of_container() -> Any:
    from botocore.credentials import ContainerProvider

    return ContainerProvider().load()


def _of_session() -> Any:
    from botocore.session import Session

    return Session().get_credentials()


def _region_from_session() -> str | None:
    from botocore.session import Session

    found: str | None = Session().get_config_variable("region")
    return found
