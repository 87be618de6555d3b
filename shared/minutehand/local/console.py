"""Serve the API and its console on the loopback for one operator, until Ctrl-C.

The address contains the secret of the session as its fragment, which browsers send to no server. The page stores it as
its token. The API also checks the headers Host and Origin, because other sites can reach the loopback through a browser
(DNS rebinding).
"""

import html
import re
import secrets
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from minutehand.local.errors import StartError
from minutehand.local.home import listen
from minutehand.local.reload import Application, serve
from minutehand.stack import folder

WATCH_SECONDS = 0.2
# The API's answers refer to its log, of which only the errors are written.
STDERR = 2
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")
NAME_CHARACTERS = 100


@contextmanager
def serve_console(
    port: int,
    environment: Mapping[str, str],
    stop: Event,
    *,
    actor: str | None,
    tenant: str | None,
    read_only: bool,
) -> Iterator[tuple[Application, str]]:
    """Serve the console on a port of 127.0.0.1; yield its process and its address, with the secret of the session.

    The audit trail records `actor`. Raises PortInUseError or PortForbiddenError if it cannot listen on the port,
    StartError if the API does not start before `stop` is set.
    """
    listening = listen(port)
    secret = secrets.token_urlsafe(32)
    owner = owner_of(actor, tenant, read_only=read_only)
    served = {
        **environment,
        "MINUTEHAND_LOCAL": "1",
        "MINUTEHAND_API_TOKENS": f"{owner}:{secret}",
        "POWERTOOLS_TRACE_DISABLED": "1",
        "POWERTOOLS_LOG_LEVEL": "ERROR",
    }
    with serve(folder() / "functions" / "api", "app:app", port, served, STDERR, listening) as application:
        if not application.accepts(stop) and not stop.is_set():
            raise StartError("the API did not start; see the error above")
        yield application, f"http://127.0.0.1:{port}/console#session={secret}"


def wait_for_end(application: Application, stop: Event) -> None:
    """Wait until `stop` is set; raise StartError if the API ends before."""
    while not stop.wait(WATCH_SECONDS):
        if application.ended:
            raise StartError("the API ended; see the error above")


@contextmanager
def open_browser(address: str) -> Iterator[None]:
    """Open a browser through a private file, because other users can see the arguments of its process."""
    with tempfile.TemporaryDirectory(prefix="minutehand-") as private:
        page = Path(private) / "console.html"
        page.write_text(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">')
        webbrowser.open(page.as_uri())
        yield


def owner_of(actor: str | None, tenant: str | None, *, read_only: bool) -> str:
    """Return the name, the tenant and the role of a token."""
    name = NOT_IN_NAMES.sub("", actor or "").lstrip("_.-")[:NAME_CHARACTERS] or "console"
    return name + (f"@{tenant}" if tenant else "") + ("+read" if read_only else "")
