"""Examine and kill embedded Postgres servers."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg

from minutehand.local.postgres import Server

Start = Callable[..., Server]


def execute(server: Server, statement: str) -> object:
    with psycopg.connect(server.url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


def kill(server: Server) -> None:
    os.kill(int((server.directory / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def working_in(home: Path) -> list[psutil.Process]:
    def works(process: psutil.Process) -> bool:
        try:
            return Path(process.cwd()) == (home / "data").resolve()
        except psutil.Error:
            return False

    return [process for process in psutil.process_iter() if works(process)]
