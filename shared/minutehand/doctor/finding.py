"""What a check found, and what to do about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warning", "problem", "skipped"]


@dataclass(frozen=True)
class Opinion:
    """A verdict, what was found in a sentence, and what to do, empty where that is nothing.

    `skipped` is what could not be looked at; it is neither well nor ill.
    """

    verdict: Verdict
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Finding:
    """What one check says, as it is printed."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""

    @classmethod
    def of(cls, check: str, opinion: Opinion) -> "Finding":
        """Put the check's name on an opinion."""
        return cls(check, opinion.verdict, opinion.found, opinion.advice)


def ok(found: str) -> Opinion:
    """Say that it is well."""
    return Opinion("ok", found)


def warning(found: str, advice: str) -> Opinion:
    """Say that it works, and what would be better."""
    return Opinion("warning", found, advice)


def problem(found: str, advice: str) -> Opinion:
    """Say that it does not work, or will not for long."""
    return Opinion("problem", found, advice)


def skipped(why: str) -> Opinion:
    """Say why it was not looked at."""
    return Opinion("skipped", why)


def judged(
    complaints: Sequence[str], advice: str, fine: str, bad: Callable[[str, str], Opinion] = problem
) -> Opinion:
    """Say that it is fine, or everything that there is to complain of."""
    return bad("; ".join(complaints), advice) if complaints else ok(fine)
