"""The options of a retry policy."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from minutehand.cli.values import duration
from minutehand.model.retry import Retry, Strategy

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

OPTIONS = (
    click.option("--no-jitter", is_flag=True, help="Use the exact backoff, without random jitter."),
    click.option("--retry-factor", type=click.FloatRange(0, 1000), help="Growth factor of the backoff.  [3]"),
    click.option("--retry-max", type=duration, help="Longest backoff, such as 1h."),
    click.option("--retry-min", type=duration, help="First backoff, such as 10s."),
    click.option(
        "--retry",
        "strategy",
        type=click.Choice(["fixed", "linear", "exponential"]),
        help="How the backoff grows.  [exponential]",
    ),
)


def retry_options(command: Decorated) -> Decorated:
    """Add the options of a retry policy."""
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
    """Return the retry policy that the options describe, or None without any."""
    options = {
        "strategy": strategy,
        "min": retry_min,
        "max": retry_max,
        "factor": retry_factor,
        "jitter": False if no_jitter else None,
    }
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if "max" not in given and retry_min is not None:
        given["max"] = max(retry_min, Retry().max)
    return Retry(**given) if given else None
