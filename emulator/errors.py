"""Errors of the emulator; each message says what to do.

EmulatorError
├── TemplateError              the template contains something unsupported
│   └── UnknownParameterError  the template does not have the parameter
├── BuildError                 a function, a layer or the runtime could not be built
└── NotSettledError            events did not finish in time
"""


class EmulatorError(Exception):
    """The emulator cannot run; the message says what to do."""


class TemplateError(EmulatorError):
    """The template contains something that the emulator does not support."""


class UnknownParameterError(TemplateError):
    """The template does not have the parameter."""


class BuildError(EmulatorError):
    """A function, a layer or the runtime could not be built."""


class NotSettledError(EmulatorError):
    """Events did not finish in time."""
