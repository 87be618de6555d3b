"""`minutehand console`: the console on this machine, with the operator's own login."""

import signal
from contextlib import nullcontext
from threading import Event

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import (
    TENANT,
    connection_options,
    given_url,
    local_run_url,
    open_database,
    tenant_option,
)
from minutehand.cli.output import print_message
from minutehand.cli.sleeping import warn_of_sleep_ahead
from minutehand.local.console import open_browser, serve_console, wait_for_end
from minutehand.queries.access import may_change
from minutehand.settings.table import DATABASE_URL


@click.command()
@click.option(
    "--port",
    default=8090,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port on 127.0.0.1.",
)
@click.option("--open", "opens", is_flag=True, help="Open the address in a browser.")
@click.option("--read-only", is_flag=True, help="Allow no changes, as for a login in minutehand_reader.")
@tenant_option
@connection_options
def console(port: int, opens: bool, read_only: bool) -> None:
    """Serve the console on this machine with your own database login, until Ctrl-C.

    Use it if the deployed API requires a JWT or signed requests, which a browser cannot send. It needs no deployed API
    and no token: the printed address contains the secret of the session, which ends with the command. Only this machine
    can reach it. Do not share the address: it grants the privileges of your login.

    \b
    Examples:
      minutehand console
      minutehand console --open
      minutehand console --read-only --port 9000
    """
    # An error of the database is reported here, and not by the page.
    with open_database() as database:
        read_only = read_only or not may_change(database)
        if not read_only:
            warn_of_sleep_ahead(database)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    url = given_url() or local_run_url()
    environment = {DATABASE_URL.name: url} if url else {}
    tenant: str | None = click.get_current_context().meta.get(TENANT)
    with serve_console(port, environment, stop, actor=actor(), tenant=tenant, read_only=read_only) as (
        api,
        address,
    ):
        if stop.is_set():
            return
        click.echo(address)
        print_message("The address is valid until Ctrl-C.")
        with open_browser(address) if opens else nullcontext():
            wait_for_end(api, stop)
