"""What can be wrong with a local run, each with a sentence that says what to do.

LocalError
├── NoPostgresError        the wheel that Postgres comes in is missing, or has no such version
├── PortInUseError         another process listens on the port that was asked for
├── OtherVersionError      the directory holds the data of another version of Postgres
├── NoPasswordError        the directory holds data, and the password made with them is gone
├── AlreadyRunningError    a server, or a whole local run, is at work in that directory
└── StartError             Postgres would not start, or its first data could not be made
"""

from minutehand.errors import MinutehandError


class LocalError(MinutehandError):
    """Something about a local run is not as it must be; the sentence says what to do."""


class NoPostgresError(LocalError):
    """The wheel that Postgres comes in is missing, or has no such version."""


class PortInUseError(LocalError):
    """Another process listens on the port that was asked for."""


class OtherVersionError(LocalError):
    """The directory holds the data of another version of Postgres."""


class NoPasswordError(LocalError):
    """The directory holds data, and the password that was made with them is gone."""


class AlreadyRunningError(LocalError):
    """A server, or a whole local run, is at work in that directory."""


class StartError(LocalError):
    """Postgres would not start, or its first data could not be made."""
