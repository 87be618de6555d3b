"""What can be wrong with an emulation, each with a sentence that says what to do.

EmulatorError
├── TemplateError              the template says what the emulator cannot follow
│   └── UnknownParameterError  it has no such parameter
├── BuildError                 a function, a layer or the runtime could not be built
└── NotSettledError            what was to come to rest did not
"""


class EmulatorError(Exception):
    """Something about an emulation is not as it must be; the sentence says what to do."""


class TemplateError(EmulatorError):
    """The template says what the emulator cannot follow."""


class UnknownParameterError(TemplateError):
    """The template has no such parameter."""


class BuildError(EmulatorError):
    """A function, a layer or the runtime could not be built."""


class NotSettledError(EmulatorError):
    """What was to come to rest did not."""
