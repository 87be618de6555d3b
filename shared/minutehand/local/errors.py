"""Errors of local runs; each message says what to do.

LocalError
├── NoPostgresError        the wheel with Postgres is missing, or does not contain the version
├── PortInUseError         another process listens on the requested port
├── PortForbiddenError     the user may not listen on the requested port
├── OtherVersionError      the directory contains the data of another version of Postgres
├── NoPasswordError        the directory contains data, but their password file is missing
├── AlreadyRunningError    a server or a local run is using the directory
└── StartError             Postgres did not start, or its data could not be created
"""

from minutehand.errors import MinutehandError


class LocalError(MinutehandError):
    """A local run cannot start; the message says what to do."""


class NoPostgresError(LocalError):
    """The wheel with Postgres is missing, or does not contain the version."""


class PortInUseError(LocalError):
    """Another process listens on the requested port."""


class PortForbiddenError(LocalError):
    """The user may not listen on the requested port."""


class OtherVersionError(LocalError):
    """The directory contains the data of another version of Postgres."""


class NoPasswordError(LocalError):
    """The directory contains data, but their password file is missing."""


class AlreadyRunningError(LocalError):
    """A server or a local run is using the directory."""


class StartError(LocalError):
    """Postgres did not start, or its data could not be created."""
