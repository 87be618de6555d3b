"""The endpoint with the metrics of `minutehand work`."""

import socket
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

import click

from minutehand.cli.output import print_message

OPTION = "--metrics-port"


def serving_metrics(host: str, port: int | None) -> AbstractContextManager[None]:
    """Serve the metrics of this process for Prometheus while the block runs, if there is a port."""
    return nullcontext() if port is None else _serving(host, port)


def check_ports(host: str, ports: Iterable[int]) -> None:
    """Raise BadParameter if a port is in use: before any process starts, since the others would go on without one."""
    for port in ports:
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            socket.create_server(address[:2], family=family).close()
        except OSError as error:
            raise _unusable(host, port, error) from None


@contextmanager
def _serving(host: str, port: int) -> Iterator[None]:
    # Imported only when used: an optional package.
    try:
        from minutehand.cli.prometheus import serving
    except ImportError as error:
        raise click.BadParameter(
            f"requires an extra ({error}); run: pip install 'minutehand[prometheus]'", param_hint=OPTION
        ) from None
    with ExitStack() as stack:
        try:
            stack.enter_context(serving(host, port))
        except OSError as error:
            raise _unusable(host, port, error) from None
        print_message(f"metrics at http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
        yield


def _unusable(host: str, port: int, error: OSError) -> click.BadParameter:
    return click.BadParameter(f"{host}:{port} cannot be used: {error}", param_hint=OPTION)
