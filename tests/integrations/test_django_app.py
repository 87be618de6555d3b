"""The Django app: a read-only list of jobs in the admin, and `manage.py minutehand`."""

import io
import json
import os
from datetime import timedelta
from typing import Any

import pytest

from minutehand import enqueue
from tests.integrations.django_site import connected
from tests.servers import Database

LIST = "/admin/minutehand/job/"


@pytest.fixture
def connection(direct_database: Database):
    """Django's connection, with one job for the lists."""
    with connected(direct_database.url) as connection:
        yield connection


@pytest.fixture
def client(connection):
    """A browser of staff who may view jobs."""
    from django.contrib.contenttypes.models import ContentType
    from django.test import Client

    # Instead of Django's own tables.
    ContentType.objects._add_to_cache("default", ContentType(1, "minutehand", "job"))
    yield Client()
    ContentType.objects.clear_cache()


@pytest.fixture
def job(connection):
    """A job with a hostile key and error, and private values."""
    made = enqueue(
        "invoice.send",
        {"card": "4111-private"},
        queue="billing",
        key="<script>\u202egpj",
        delay=timedelta(days=1),
        headers={"token": "private-header"},
        connection=connection,
    )
    error = json.dumps({"type": "ValueError", "message": "<b>no</b>\u202e"})
    with connection.cursor() as cursor:
        cursor.execute("update minutehand.jobs_live set error = %s, attempts = 1", [error])
    return made


@pytest.mark.parametrize("page", ["", "{id}/change/"], ids=["list", "job"])
def test_admin_page_shows_a_job_safely(page: str, client, job) -> None:
    answer = client.get(LIST + page.format(id=job.id))
    text = answer.content.decode()

    assert answer.status_code == 200
    shown = (
        "retrying",
        "invoice.send",
        "billing",
        "1 of 8",
        "ValueError",
        "&lt;script&gt;\\u202egpj",
        "&lt;b&gt;no",
    )
    assert [each for each in shown if each not in text] == []
    assert [
        each for each in ("private", "<script>\\", "<b>no", "\u202e", "_save", "deletelink") if each in text
    ] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q={id}", True),
        ("q=%3Cscript%3E%E2%80%AEgpj", True),
        ("q=script", False),
        ("queue=billing&kind=invoice.send&outcome=unfinished", True),
        ("queue=other", False),
        ("kind=%00", False),
        ("outcome=done", False),
        ("outcome=failed", False),
        ("p=9999", True),
    ],
)
def test_admin_finds_jobs(query: str, found: bool, client, job) -> None:
    answer = client.get(f"{LIST}?{query.format(id=job.id)}", follow=True)

    assert answer.status_code == 200
    assert (str(job.id) in answer.content.decode()) == found


def test_admin_filters_by_no_other_column(client, job) -> None:
    assert client.get(f"{LIST}?error__message__startswith=a").status_code == 400


@pytest.mark.parametrize("page", ["add/", "{id}/change/", "{id}/delete/", ""])
def test_admin_refuses_changes(page: str, client, job, connection) -> None:
    from minutehand.integrations.django.models import Job

    form = {"action": "delete_selected", "_selected_action": str(job.id), "post": "yes", "kind": "other"}
    answer = client.post(LIST + page.format(id=job.id), form)

    assert answer.status_code in (403, 200, 302) and (page == "" or answer.status_code == 403)
    assert Job.objects.get().kind == "invoice.send"


def test_admin_requires_the_permission_to_view_jobs(client, job) -> None:
    assert client.get(LIST, headers={"permission": "minutehand.other"}).status_code == 403


def test_admin_list_reads_a_bounded_number_of_jobs(client, job, connection) -> None:
    from django.test.utils import CaptureQueriesContext

    from minutehand.integrations.django import admin

    enqueue("second", connection=connection)
    with (
        pytest.MonkeyPatch.context() as patch,
        CaptureQueriesContext(
            connection,
        ) as queries,
    ):
        patch.setattr(admin, "LISTED", 1)
        answer = client.get(LIST)

    assert "\n1 job\n" in answer.content.decode()
    # The last query reads all that was counted, if that fits on a page.
    assert all("LIMIT" in query["sql"] for query in queries.captured_queries[:-1])


def test_model_cannot_change_jobs(job) -> None:
    from minutehand.integrations.django.models import Job

    row = Job.objects.get()
    changes = [
        row.save,
        row.delete,
        lambda: Job.objects.create(kind="other"),
        lambda: Job.objects.update(kind="other"),
        Job.objects.all().delete,
        lambda: Job.objects.bulk_create([row]),
    ]

    for change in changes:
        with pytest.raises(TypeError, match="read-only"):
            change()


def test_migrations_ignore_the_app(connection) -> None:
    from django.core.management import call_command

    from minutehand.integrations.django.models import Job

    plan = io.StringIO()
    call_command("check")
    call_command("makemigrations", check=True, dry_run=True, stdout=plan)
    call_command("migrate", plan=True, stdout=plan)

    assert "No changes detected" in plan.getvalue() and "minutehand" not in plan.getvalue()
    assert not Job._meta.can_migrate("default")


def test_command_runs_in_the_database_of_the_project(job, monkeypatch, capfd) -> None:
    from django.core.management import call_command

    monkeypatch.setenv("DATABASE_URL", "postgresql://nowhere")
    call_command("minutehand", "ls", "-o", "ids")

    assert capfd.readouterr().out.split() == [str(job.id)]
    assert os.environ["DATABASE_URL"] == "postgresql://nowhere"


def test_command_exits_with_the_code_of_the_command_line(connection, capfd) -> None:
    from django.core.management import call_command

    with pytest.raises(SystemExit) as ended:
        call_command("minutehand", "ls", "--state", "unknown")

    assert ended.value.code == 2 and "manage.py minutehand ls --help" in capfd.readouterr().err


def test_command_hides_the_password_of_the_database(connection, monkeypatch, capfd) -> None:
    from django.core.management import call_command

    with connection.cursor() as cursor:
        cursor.execute("create role django_owner superuser login password 'p@ss/ &%w0rd'")
    try:
        monkeypatch.setitem(connection.settings_dict, "USER", "django_owner")
        monkeypatch.setitem(connection.settings_dict, "PASSWORD", "p@ss/ &%w0rd")
        call_command("minutehand", "settings", "-o", "json")
        call_command("minutehand", "ls")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("drop role django_owner")

    assert "w0rd" not in "".join(capfd.readouterr())


def test_worker_middleware_closes_broken_connections(connection, monkeypatch) -> None:
    from minutehand.integrations.django.worker import fresh_connections

    with connection.cursor() as cursor:
        cursor.execute("select 1")
    connection.connection.close()
    connection.errors_occurred = True

    job: Any = None

    assert fresh_connections(job, lambda job: connection.connection) is None
