"""The pipeline's errors. Each message says what to do.

MinutehandError
└── PipelineError
    ├── MissingError      something is not installed: Java, Spark, a driver
    ├── LakeError         the lake cannot be read or written: wrong queue, newer version, damaged
    ├── BusyError         another run is doing the same work
    ├── MismatchError     the written files differ from the database; nothing was committed or dropped
    ├── LoadError         a load failed: rows were rejected, a task failed, or rows cannot be written
    └── InputError        an argument, an option or an input file is not usable; also a ConfigurationError
"""

from minutehand.errors import ConfigurationError, MinutehandError


class PipelineError(MinutehandError):
    """Base class of the pipeline's errors."""


class MissingError(PipelineError):
    """A dependency is not installed. The message names the command that installs it."""


class LakeError(PipelineError):
    """The lake cannot be read or written in its present state."""


class BusyError(PipelineError):
    """Another run holds the lock or committed first."""


class MismatchError(PipelineError):
    """The files written do not match the database."""


class LoadError(PipelineError):
    """A load failed: too many rows were rejected, a task failed, or the rejected rows cannot be written."""


class InputError(PipelineError, ConfigurationError):
    """An argument, an option or an input file is not usable."""
