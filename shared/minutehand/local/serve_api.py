"""Serve the API of a local run: functions/api on the loopback, until standard input closes.

python -m minutehand.local.serve_api functions/api 8080
"""

import sys
from importlib import import_module
from threading import Thread

import uvicorn


def serve(directory: str, port: int) -> None:
    """Serve the application until the parent ends, even if it is killed."""
    sys.path.insert(0, directory)
    config = uvicorn.Config(
        import_module("app").app, host="127.0.0.1", port=port, log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)

    def end_with_parent() -> None:
        sys.stdin.read()
        server.should_exit = True

    Thread(target=end_with_parent, daemon=True).start()
    server.run()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
