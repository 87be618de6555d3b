"""asyncpg: the types of all statements can be inferred, and codecs of the caller do not change values."""

import json
import re
from typing import Any

import asyncpg

from minutehand import enqueue
from minutehand.database.statements import statement, statement_names
from minutehand.integrations.placeholders import numbered
from minutehand.queries.jobs import get
from tests.event_loop import run_in_loop
from tests.queue.stage import Queue
from tests.servers import Database


def test_types_of_all_statements_are_inferred(database: Database) -> None:
    async def prepare() -> dict[str, str]:
        connection = await asyncpg.connect(database.url)
        failed = {}
        for name in sorted(statement_names()):
            names = re.findall(r"%\((\w+)\)s", statement(name))
            if "from stdin" in statement(name):
                continue
            try:
                await connection.prepare(numbered(statement(name), dict.fromkeys(names))[0])
            except asyncpg.PostgresError as error:
                failed[name] = str(error)
        await connection.close()
        return failed

    assert run_in_loop(prepare()) == {}


def test_json_codec_of_the_caller_does_not_change_values(database: Database, queue: Queue) -> None:
    async def scenario() -> tuple[Any, Any]:
        connection = await asyncpg.connect(database.url)
        for name in ("json", "jsonb"):
            await connection.set_type_codec(name, encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        enqueued = await enqueue("ship", {"a": "b"}, headers={"c": "d"}, connection=connection)
        text = await enqueue("ship", '"quoted"', connection=connection)
        rows = await get(connection, enqueued.id), await get(connection, text.id)
        await connection.close()
        return rows

    rows = run_in_loop(scenario())

    assert [row.payload for row in rows] == [{"a": "b"}, '"quoted"']
    assert rows == tuple(queue.row(row.id) for row in rows)
