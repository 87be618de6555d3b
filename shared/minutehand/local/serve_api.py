"""Serve an ASGI application of a local run on the loopback, until standard input closes.

python -m minutehand.local.serve_api functions/api app:app 8080
python -m minutehand.local.serve_api functions/api app:app 8080 5    # 5 is an inherited socket that listens on the port
"""

import socket
import sys
from importlib import import_module
from threading import Thread

import uvicorn


def serve(directory: str, application: str, port: int, inherited: int | None = None) -> None:
    """Serve an application in a module of a directory until the parent ends, even if it is killed."""
    sys.path.insert(0, directory)
    module, _, name = application.partition(":")
    config = uvicorn.Config(
        getattr(import_module(module), name), host="127.0.0.1", port=port, log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)

    def end_with_parent() -> None:
        sys.stdin.read()
        server.should_exit = True

    Thread(target=end_with_parent, daemon=True).start()
    server.run(None if inherited is None else [socket.socket(fileno=inherited)])


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
