"""A retry strategy, said with options."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from minutehand.cli.values import duration
from minutehand.model.retry import Retry, Strategy

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

OPTIONS = (
    click.option("--no-jitter", is_flag=True, help="Wait exactly that long, and not a chance part of it."),
    click.option("--retry-factor", type=click.FloatRange(0, 1000), help="What the waits grow by (3)."),
    click.option("--retry-max", type=duration, help="The longest wait, as 1h."),
    click.option("--retry-min", type=duration, help="The first wait, as 10s."),
    click.option(
        "--retry",
        "strategy",
        type=click.Choice(["fixed", "linear", "exponential"]),
        help="How waits grow (exponential).",
    ),
)


def retry_options(command: Decorated) -> Decorated:
    """Add the options of a retry strategy."""
    for option in OPTIONS:
        command = option(command)
    return command


def retry_of(
    strategy: Strategy | None,
    retry_min: timedelta | None,
    retry_max: timedelta | None,
    retry_factor: float | None,
    no_jitter: bool,
) -> Retry | None:
    """Return the strategy that the options say, or None if they say nothing."""
    said = {
        "strategy": strategy,
        "min": retry_min,
        "max": retry_max,
        "factor": retry_factor,
        "jitter": False if no_jitter else None,
    }
    known: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    if "max" not in known and retry_min is not None:
        known["max"] = max(retry_min, Retry().max)
    return Retry(**known) if known else None
