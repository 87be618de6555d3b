"""A served application ends, even if one of its requests does not."""

import socket

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
        assert application.accepts()
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            waiting.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            application.stop()

    assert application.ended
