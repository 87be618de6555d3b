"""A served application ends, even if one of its requests does not."""

import socket
from threading import Event, Thread

from minutehand.local import reload
from tests.ports import free_port

# Answers the question whether it accepts requests, and no other.
NEVER_ANSWERS = """
import asyncio

async def app(scope, receive, send):
    if scope["method"] != "HEAD":
        await asyncio.sleep(3600)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})
"""


def test_application_ends_while_a_request_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(reload, "STOP_SECONDS", 0.1)
    (tmp_path / "app.py").write_text(NEVER_ANSWERS)
    port = free_port()

    with reload.serve(tmp_path, "app:app", port, {}) as application:
        assert application.accepts(Event())
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            waiting.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            application.stop()

    assert application.ended


def test_wait_for_an_application_ends_when_the_command_stops(tmp_path):
    (tmp_path / "app.py").write_text("import signal\nsignal.pause()")
    stop = Event()

    with reload.serve(tmp_path, "app:app", free_port(), {}) as application:
        waiting = Thread(target=application.accepts, args=[stop], daemon=True)
        waiting.start()
        stop.set()
        waiting.join(60)

        assert not waiting.is_alive() and not application.ended
        application._process.kill()
