"""Findings: what a check found, and what to do about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warning", "problem", "skipped"]


@dataclass(frozen=True)
class Opinion:
    """A verdict, what was found, and what to do; the advice is empty if there is nothing to do.

    `skipped` means that the check could not run.
    """

    verdict: Verdict
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Finding:
    """The result of one check, as it is printed."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""

    @classmethod
    def of(cls, check: str, opinion: Opinion) -> "Finding":
        """Add the check's name to an opinion."""
        return cls(check, opinion.verdict, opinion.found, opinion.advice)


def ok(found: str) -> Opinion:
    """Report that everything is in order."""
    return Opinion("ok", found)


def warning(found: str, advice: str) -> Opinion:
    """Report that it works but should be improved."""
    return Opinion("warning", found, advice)


def problem(found: str, advice: str) -> Opinion:
    """Report that it does not work, or will soon stop working."""
    return Opinion("problem", found, advice)


def skipped(reason: str) -> Opinion:
    """Report why the check did not run."""
    return Opinion("skipped", reason)


def judged(
    complaints: Sequence[str], advice: str, fine: str, bad: Callable[[str, str], Opinion] = problem
) -> Opinion:
    """Report all complaints, or that everything is in order."""
    return bad("; ".join(complaints), advice) if complaints else ok(fine)
