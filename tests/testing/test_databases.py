"""Test databases are created on the server of the given URL, and never in a user's database."""

from contextlib import closing

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from minutehand.database import connect
from minutehand.errors import ConfigurationError
from minutehand.testing.databases import at, check_database
from tests.servers import Database
from tests.testing.project import Project


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada@127.0.0.1:5433/postgres",
        "postgresql://ada@127.0.0.1:5433/postgres?dbname=precious",
        "postgresql://127.0.0.1/?user=ada&dbname=precious&connect_timeout=3",
        "postgres://ada:a%2Fb%3F%40:c@db.example.org/precious?sslmode=require&options=-cjit%3Doff%20-cseed%3D1",
        "postgresql:///precious?host=/tmp",
        "postgresql://ada@%2Fvar%2Frun/precious",
        "postgresql://ada@[::1]:5433/precious",
        "postgresql://one:1,two:2/precious",
        "host=127.0.0.1 port=5433 dbname=precious password='a b'",
        "dbname=precious",
    ],
)
def test_derived_url_differs_only_in_the_database_name(url: str) -> None:
    assert conninfo_to_dict(at(url, "own")) == {**conninfo_to_dict(url), "dbname": "own"}
    assert at(url, "own").startswith("postgresql://")


def test_database_in_the_query_of_the_url_is_rejected(project: Project, empty_database: Database) -> None:
    """The query takes precedence over the path, so a template must not be created there."""
    name = conninfo_to_dict(empty_database.admin_url)["dbname"]
    project.environment["MINUTEHAND_TEST_DATABASE_URL"] = f"{at(empty_database.admin_url, 'x')}?dbname={name}"
    project.write(
        test_it="""
            from minutehand import enqueue

            def test_it(queue):
                enqueue("welcome")
                queue.assert_enqueued("welcome")
        """
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 1}, ran.text
    with psycopg.connect(empty_database.admin_url) as connection:
        found = connection.execute(
            "select nspname from pg_namespace where nspname ~ '^minutehand'"
        ).fetchall()
    assert found == []


def test_database_of_another_server_is_not_modified(empty_database: Database) -> None:
    name = str(conninfo_to_dict(empty_database.admin_url)["dbname"])
    with closing(connect(empty_database.admin_url)) as connection:
        check_database(connection, name)
        with pytest.raises(ConfigurationError, match="connected to another database than own"):
            check_database(connection, "own")
