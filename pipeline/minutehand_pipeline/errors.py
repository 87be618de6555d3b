"""The pipeline's errors, each with a sentence that says what to do.

MinutehandError
└── PipelineError
    ├── MissingError      a part that this machine needs is not installed: Java, Spark, a driver
    ├── LakeError         the lake is not what it has to be: another's, newer, half there
    ├── BusyError         another run does the same at this moment
    ├── DisagreeError     what was read is not what was written; nothing was committed, nothing dropped
    └── InputError        what was asked for, or the files of it, cannot be used
"""

from minutehand.errors import MinutehandError


class PipelineError(MinutehandError):
    """The root of the pipeline's part of the tree."""


class MissingError(PipelineError):
    """Something is not installed; the sentence says what to run."""


class LakeError(PipelineError):
    """The lake cannot be read or written as it is."""


class BusyError(PipelineError):
    """Another run holds what this one wants."""


class DisagreeError(PipelineError):
    """Two counts of the same thing differ."""


class InputError(PipelineError):
    """What was given cannot be used."""
