"""Role: the credentials, region and endpoints that requests are signed for."""

import os
from collections.abc import Mapping

from botocore.credentials import (
    ContainerProvider,
    CredentialResolver,
    Credentials,
    EnvProvider,
    ReadOnlyCredentials,
)
from botocore.endpoint_provider import RuleSetStandardLibrary
from botocore.exceptions import BotoCoreError
from botocore.loaders import Loader

from minutehand.errors import ConfigurationError


def credentials() -> ReadOnlyCredentials:
    """Return the current credentials; outside Lambda this creates a session, which takes half a second."""
    try:
        # Lambda provides them in variables, and with SnapStart at a local address.
        found = CredentialResolver([EnvProvider(), ContainerProvider()]).load_credentials()
        found = found or _from_session()
        if found is not None:
            frozen: ReadOnlyCredentials = found.get_frozen_credentials()
            return frozen
    except BotoCoreError as error:
        raise ConfigurationError(f"the AWS credentials cannot be read: {error}") from error
    raise ConfigurationError("AWS credentials are missing; set AWS_PROFILE to a profile")


def region(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region of the environment or of the profile."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if value := environment.get(name):
            return value
    if found := _region_from_session():
        return found
    raise ConfigurationError("AWS_REGION is not set; set it to a region, such as eu-west-1")


def endpoint(service: str, region: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of a service: AWS_ENDPOINT_URL_<SERVICE>, or the endpoint in the region's partition."""
    specific = environment.get(f"AWS_ENDPOINT_URL_{service.upper().replace(' ', '_')}")
    if url := specific or environment.get("AWS_ENDPOINT_URL"):
        return url
    partition = RuleSetStandardLibrary(Loader().load_data("partitions")).aws_partition(region)
    return f"https://{service.lower().replace(' ', '')}.{region}.{partition['dnsSuffix']}"


def _from_session() -> Credentials | None:
    from botocore.session import Session

    found: Credentials | None = Session().get_credentials()
    return found


def _region_from_session() -> str | None:
    from botocore.session import Session

    found: str | None = Session().get_config_variable("region")
    return found
