"""Sentences that say which other queues are faster than minutehand, and which are slower."""

from collections.abc import Sequence

from bench.page.titles import TITLES
from bench.queues.systems import LIMITS, OURS
from bench.results import Results
from bench.statistics import ratio

# Not queues, but bare statements.
REFERENCES = {system.name for system in LIMITS}


def compare(results: Results, case: str) -> str:
    """Return a sentence for each group of queues, the fastest first, by the ratios of a case."""
    rates = results.cases[case].rates
    ratios = {name: ratio(rates[name], rates[OURS]) for name in rates if name not in {OURS, *REFERENCES}}
    ordered = sorted(ratios, key=lambda name: -ratios[name])
    faster = [TITLES[name] for name in ordered if ratios[name] > 1]
    slower = [TITLES[name] for name in ordered if ratios[name] <= 1]
    return " ".join(
        _sentence(names, word) for names, word in ((faster, "faster"), (slower, "slower")) if names
    )


def _sentence(names: Sequence[str], word: str) -> str:
    verb = "is" if len(names) == 1 else "are"
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {verb} {word}."
