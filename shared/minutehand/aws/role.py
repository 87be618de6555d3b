"""Whom a request is signed for: the credentials of the function's role, its region, and where a service is."""

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
    """Return the credentials of this moment; a session and its half second are only made outside of Lambda."""
    try:
        # Lambda gives them as variables, and with SnapStart by an address of its own.
        found = CredentialResolver([EnvProvider(), ContainerProvider()]).load_credentials()
        found = found or _of_this_machine()
        if found is not None:
            frozen: ReadOnlyCredentials = found.get_frozen_credentials()
            return frozen
    except BotoCoreError as error:
        raise ConfigurationError(f"the AWS credentials cannot be read: {error}") from error
    raise ConfigurationError("there are no AWS credentials here: name a profile in AWS_PROFILE")


def region(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region that the environment or the profile names."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if said := environment.get(name):
            return said
    if found := _region_of_this_machine():
        return found
    raise ConfigurationError("AWS_REGION is not set: name the region, such as eu-west-1")


def endpoint(service: str, region: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of a service: what AWS_ENDPOINT_URL_<SERVICE> says, or that of the region's partition."""
    own = environment.get(f"AWS_ENDPOINT_URL_{service.upper().replace(' ', '_')}")
    if said := own or environment.get("AWS_ENDPOINT_URL"):
        return said
    partition = RuleSetStandardLibrary(Loader().load_data("partitions")).aws_partition(region)
    return f"https://{service.lower().replace(' ', '')}.{region}.{partition['dnsSuffix']}"


def _of_this_machine() -> Credentials | None:
    from botocore.session import Session

    found: Credentials | None = Session().get_credentials()
    return found


def _region_of_this_machine() -> str | None:
    from botocore.session import Session

    found: str | None = Session().get_config_variable("region")
    return found
