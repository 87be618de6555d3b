"""Advice on capacity: candidates from a model of the arrivals, each verified with the simulator before it is shown."""

from minutehand_pipeline.report.advice.candidate import Candidate, Goal
from minutehand_pipeline.report.advice.sample import Sample, read_sample
from minutehand_pipeline.report.advice.search import Advice, advise
from minutehand_pipeline.report.advice.words import ASSUMPTIONS, MIN_JOBS, advice_sentences, no_advice_reason

__all__ = [
    "ASSUMPTIONS",
    "MIN_JOBS",
    "Advice",
    "Candidate",
    "Goal",
    "Sample",
    "advice_sentences",
    "advise",
    "no_advice_reason",
    "read_sample",
]
