"""Queues: the selection of queues that a worker serves, and their weights."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

# As the domain minutehand.queue.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
LARGEST_WEIGHT = 1000

Given = str | Sequence[str] | Mapping[str, int]


@dataclass(frozen=True)
class Queues:
    """The queues that a worker serves; without any, all queues, including those that appear later.

    While several have due jobs, each gets jobs in proportion to its weight. With `strict`, a queue gets jobs only while
    the queues before it have none that are due.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False

    @classmethod
    def of(cls, given: Given = (), strict: bool = False) -> Self:
        """Select a queue, a list of queues, or queues with weights; raise InvalidJobError if a name is invalid."""
        pairs = given.items() if isinstance(given, Mapping) else [(name, 1) for name in _listed(given)]
        return cls._of_pairs(pairs, strict)

    @classmethod
    def parse(cls, texts: Iterable[str], strict: bool = False) -> Self:
        """Read texts such as `mail`, `mail,reports` or `mail=3`."""
        return cls._of_pairs([_parse(part) for text in texts for part in text.split(",")], strict)

    @classmethod
    def _of_pairs(cls, pairs: Iterable[tuple[str, object]], strict: bool) -> Self:
        weights: dict[str, int] = {}
        for name, weight in pairs:
            if check_name(name) in weights:
                raise InvalidJobError("queue_is_given_once", f"queue {name} must be given once")
            weights[name] = _check_weight(name, weight)
        if strict and (not weights or max(weights.values()) > 1):
            raise InvalidJobError(
                "strict_has_an_order", "strict order requires a list of queues without weights"
            )
        return cls(weights, strict)

    @property
    def only(self) -> str | None:
        """The queue, if there is only one."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None

    def __str__(self) -> str:
        """List the queues in words: `queues mail (weight 3), reports`."""
        if not self.weights:
            return "all queues"
        names = [
            name if weight == 1 else f"{name} (weight {weight})" for name, weight in self.weights.items()
        ]
        order = " in strict order" if self.strict else ""
        return f"{'queue' if self.only else 'queues'} {', '.join(names)}{order}"


def check_name(name: object) -> str:
    """Return the name of a queue; raise InvalidJobError if it is invalid."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidJobError("queue_is_a_name", f"{sentence('queue_is_a_name')}, got {str(name)[:120]!r}")
    return name


def _listed(given: str | Sequence[str]) -> Sequence[str]:
    return (given,) if isinstance(given, str) else given


def _parse(text: str) -> tuple[str, object]:
    name, weighted, weight = text.strip().partition("=")
    return name, (int(weight) if weight.isascii() and weight.isdigit() else weight) if weighted else 1


def _check_weight(name: str, weight: object) -> int:
    if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= LARGEST_WEIGHT:
        raise InvalidJobError(
            "weight_is_1_to_1000",
            f"the weight of queue {name} must be an integer from 1 to {LARGEST_WEIGHT}, got {weight!r}",
        )
    return weight
