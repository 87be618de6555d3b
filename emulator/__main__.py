"""`python -m emulator`: run a stack on a local emulation of Lambda."""

import signal
import sys
from pathlib import Path
from threading import Event

import click
from rich.console import Console

from emulator.errors import EmulatorError
from emulator.run import Plan, run
from minutehand.errors import MinutehandError


def _pairs(_context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"expected NAME=VALUE, got {text!r}", param=parameter)
        pairs[name] = value
    return pairs


PORT = click.IntRange(0, 65535)


@click.command(context_settings={"show_default": True})
@click.option("--template", default="template.yaml", type=click.Path(path_type=Path), help="The template.")
@click.option(
    "--set",
    "parameters",
    multiple=True,
    callback=_pairs,
    metavar="PARAMETER=VALUE",
    help="A parameter of the template; repeatable.",
)
@click.option(
    "--env",
    "environment",
    multiple=True,
    callback=_pairs,
    metavar="NAME=VALUE",
    help="A variable for all functions, which overrides the template; repeatable.",
)
@click.option("--every", default=60.0, type=click.FloatRange(0.1, 86400), help="Seconds between ticks.")
@click.option(
    "--concurrency",
    default=10,
    type=click.IntRange(0, 1000),
    help="Concurrency of the account (new accounts have 10).",
)
@click.option("--port", default=8080, type=PORT, help="Port of the API on 127.0.0.1; 0 starts no API.")
@click.option(
    "--lambda-port", default=0, type=PORT, help="Port of Lambda's Invoke API; 0 chooses a free one."
)
@click.option(
    "--python", help="Interpreter of the functions; default: the template's version, if it is on the PATH."
)
@click.option("--freeze/--no-freeze", default=True, help="Freeze environments between invocations.")
@click.option(
    "--seed/--no-seed", default=True, help="Enqueue the example webhooks of events/seed at the start."
)
@click.option("--until-idle", is_flag=True, help="Stop when all jobs are finished.")
@click.option(
    "--worst",
    type=int,
    metavar="SEED",
    help="Kill, freeze, lose, delay and duplicate some invocations, chosen by this seed.",
)
def main(**options: object) -> None:
    """Run the functions of a template as on Lambda, with a Postgres from a wheel or the database of DATABASE_URL.

    The functions are built as `sam build` builds them and run under Lambda's runtime client. Ctrl-C ends everything.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        run(Plan(**options), Console(), stop)  # type: ignore[arg-type]
    except (EmulatorError, MinutehandError) as error:
        sys.exit(f"emulator: {error}")


if __name__ == "__main__":
    main(prog_name="python -m emulator")
