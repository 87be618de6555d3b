"""The endpoint with the metrics of `minutehand work`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

import click

from minutehand.cli.output import print_message

OPTION = "--metrics-port"


def serving_metrics(host: str, port: int | None) -> AbstractContextManager[None]:
    """Serve the metrics of this process for Prometheus while the block runs, if there is a port."""
    return nullcontext() if port is None else _serving(host, port)


@contextmanager
def _serving(host: str, port: int) -> Iterator[None]:
    # Imported only when used: an optional package.
    try:
        from minutehand.cli.prometheus import serving
    except ImportError as error:
        raise click.BadParameter(f"install minutehand[prometheus] ({error})", param_hint=OPTION) from None
    with ExitStack() as stack:
        try:
            stack.enter_context(serving(host, port))
        except OSError as error:
            raise click.BadParameter(f"{host}:{port} cannot be used: {error}", param_hint=OPTION) from None
        print_message(f"metrics at http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
        yield
