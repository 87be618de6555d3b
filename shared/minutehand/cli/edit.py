"""`minutehand edit`: what an upcoming job carries, and how it is tried, is changed."""

from datetime import timedelta
from functools import partial
from typing import Any

import click

from minutehand.cli.change import ids_or_filters
from minutehand.cli.changing import UPCOMING, Asked, Verb, change
from minutehand.cli.policy import retry_of, retry_options
from minutehand.cli.values import duration, parse_json
from minutehand.cli.who import who
from minutehand.operations.edit import edit as edit_jobs


@click.command()
@click.option("--payload", metavar="JSON", help="The new payload.")
@click.option("--headers", metavar="JSON", help="The new headers; null takes them away.")
@click.option("--priority", type=int, help="0 to 9; 9 goes first.")
@click.option("--max-attempts", type=int, help="How many attempts there are; 1 is no retry.")
@click.option("--timeout", type=duration, help="How long an attempt may take, as 90s; at most 24h.")
@retry_options
@ids_or_filters
def edit(
    payload: str | None, headers: str | None, priority: int | None, max_attempts: int | None,
    timeout: timedelta | None, strategy: Any, retry_min: Any, retry_max: Any, retry_factor: Any, no_jitter: bool,
    **asked: Any,
) -> int:  # fmt: skip
    """Change what jobs that have not begun carry, or how they are tried.

    Name IDS, pipe them in (`-`), or choose by filters. A running job is refused. The audit trail keeps which
    fields were changed, and never a payload.

    \b
    Examples:
      minutehand edit 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --payload '{"email": "ada@example.com"}'
      minutehand edit --queue mail --state scheduled --priority 9 --yes
    """
    said = {"priority": priority, "max_attempts": max_attempts, "timeout": timeout}
    said["retry"] = retry_of(strategy, retry_min, retry_max, retry_factor, no_jitter)  # type: ignore[assignment]
    named: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    for name, text in (("payload", payload), ("headers", headers)):
        if text is not None:
            named[name] = _json(text, f"--{name}")
    if not named:
        raise click.UsageError("say what to change")
    return change(Verb("edited", UPCOMING, partial(edit_jobs, **named, who=who())), Asked(**asked))


def _json(text: str, hint: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise click.BadParameter(f"it is not JSON: {error}", param_hint=hint) from None
