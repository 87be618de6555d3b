"""Each role can run exactly its statements."""

import re

import psycopg
import pytest
from psycopg import errors

from minutehand import Database
from minutehand.database.statements import statement, statement_names
from tests.queue.logins import Login
from tests.queue.roles.privileges import MAY, OTHER_SQL, OWNER_ONLY, ROLES

pytestmark = pytest.mark.every_version


def may(session: Database, text: str, parameters: dict[str, object] | None = None) -> bool:
    """Whether a role has the privileges for a statement, which is rolled back."""
    connection = session.connection
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(text.encode(), parameters)
    except errors.InsufficientPrivilege:
        return False
    except (errors.SyntaxError, errors.UndefinedObject, errors.UndefinedTable):
        raise
    except psycopg.Error:
        # The privileges suffice, and the statement failed for another reason.
        pass
    return True


@pytest.mark.parametrize("role", ROLES)
def test_role_can_run_exactly_its_statements(login: Login, role: str) -> None:
    session = login(role)

    allowed = {
        name
        for name in MAY
        if name != "copy_incoming"
        and may(session, statement(name), dict.fromkeys(re.findall(r"%\((\w+)\)", statement(name))))
    }

    assert allowed == {name for name, roles in MAY.items() if role in roles} - {"copy_incoming"}


def test_login_without_a_role_cannot_access_the_schema(login: Login) -> None:
    session = login()

    allowed = {
        name
        for name in MAY
        if may(session, statement(name), dict.fromkeys(re.findall(r"%\((\w+)\)", statement(name))))
    }

    assert allowed <= {
        "clock",
        "examine_disk",
        "examine_process",
        "examine_server",
        "examine_snapshots",
        "health",
        "leave_tenant",
        "limit_time",
        "lock_installation",
        "migration_known",
        "may_change",
        "why_clock",
    }


def test_each_statement_has_its_roles_listed() -> None:
    assert statement_names() == {*MAY}


@pytest.mark.parametrize("role", ROLES)
def test_owner_only_sql_is_refused_to_each_role(login: Login, role: str) -> None:
    session = login(role)

    assert [text for text in OWNER_ONLY if may(session, text)] == []


@pytest.mark.parametrize("role", ROLES)
def test_other_sql_is_allowed_only_to_its_roles(login: Login, role: str) -> None:
    session = login(role)

    assert {text for text in OTHER_SQL if may(session, text)} == {
        text for text, roles in OTHER_SQL.items() if role in roles
    }
