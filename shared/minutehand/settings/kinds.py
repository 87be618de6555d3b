"""The kinds of settings: how a text is parsed, and how an invalid one is reported."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from minutehand.errors import ConfigurationError

Value = TypeVar("Value")

FLAGS = {"1": True, "true": True, "0": False, "false": False}
MASK = "********"
# What `os.environ` wraps: the variables by their encoded names, for as long as the process lives. `os.environ` itself
# raises and catches an error for each variable that is not set, and an enqueue reads nine settings, nearly all of which
# are not. The attribute is CPython's own. Without it, the variables are read from `os.environ`.
STORED: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)


def stored_name(name: str) -> Any:
    """Return the name of a variable as a key of STORED."""
    return name if STORED is os.environ else os.environ.encodekey(name)


class Kind(NamedTuple, Generic[Value]):
    """How the text of a variable becomes a value.

    `expected` completes the sentence "NAME must be ...". `parse` raises ValueError for an invalid text; the
    exception's message, if it has one, is added to the sentence.
    """

    name: str
    expected: str
    parse: Callable[[str], Value]


class Setting(Generic[Value]):
    """An environment variable: its kind, default, description, and the parts of minutehand that read it.

    A variable that is empty counts as unset: the template declares empty variables so that local runs can set them.
    """

    def __init__(
        self,
        name: str,
        kind: Kind[Value],
        default: Value,
        description: str,
        read_by: tuple[str, ...],
        mask: Callable[[str], str] | None = None,
    ) -> None:
        """Declare the setting and read nothing; `mask` returns what may be shown of a secret value."""
        self.name, self.kind, self.default = name, kind, default
        self.description, self.read_by, self.mask = description, read_by, mask
        self._stored_name = stored_name(name)

    @property
    def is_secret(self) -> bool:
        """Whether the value must not be shown as it is."""
        return self.mask is not None

    def text(self, environment: Mapping[str, str] = os.environ) -> str:
        """Return the variable as it is, to pass it on to another process; empty if it is unset."""
        return environment.get(self.name, "")

    def override(self, text: str) -> None:
        """Set the variable for this process and those that it starts."""
        os.environ[self.name] = text

    def read(self, environment: Mapping[str, str] = os.environ) -> Value:
        """Return the value or the default; raise ConfigurationError for an invalid value."""
        if environment is os.environ and self._stored_name not in STORED:
            return self.default
        if not (text := environment.get(self.name)):
            return self.default
        try:
            return self.kind.parse(text)
        except ValueError as error:
            reason = f": {error}" if str(error) else ""
            shown = "an invalid value" if self.is_secret else repr(text)
            raise ConfigurationError(
                f"{self.name} must be {self.kind.expected}, got {shown}{reason}"
            ) from None


def integer(minimum: int, maximum: int, unit: str = "") -> Kind[int]:
    """Accept an integer within a range."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not minimum <= int(text) <= maximum:
            raise ValueError
        return int(text)

    of_unit = f" ({unit})" if unit else ""
    return Kind(f"{minimum} to {maximum}{of_unit}", f"an integer from {minimum} to {maximum}{of_unit}", parse)


def choice(*values: str) -> Kind[str]:
    """Accept one of a few words."""

    def parse(text: str) -> str:
        if text not in values:
            raise ValueError
        return text

    *others, last = values
    return Kind(" or ".join(values), f"{', '.join(others)} or {last}" if others else last, parse)


def json_object(example: str, parse: Callable[[str], Value]) -> Kind[Value]:
    """Accept a JSON object, which `parse` reads."""
    return Kind("JSON", f"a JSON object such as {example}", parse)


def _parse_flag(text: str) -> bool:
    if text not in FLAGS:
        raise ValueError
    return FLAGS[text]


def _parse_items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


FLAG = Kind("flag", "1, 0, true or false", _parse_flag)
TEXT = Kind("text", "text", str)
ITEMS = Kind("list", "a list separated by commas", _parse_items)
# A list that is parsed where it is used, because invalid items are logged and skipped there.
LIST = Kind("list", "a list separated by commas", str)
