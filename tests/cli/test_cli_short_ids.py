"""Job ids by their first digits, for every command that takes ids."""

from contextlib import closing
from uuid import UUID

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many
from minutehand.queries.ids import find_id, short_ids

ONE, TWO = UUID("019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10"), UUID("019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a11")
OTHER = UUID("019c2f6e-8f0b-7c3d-9a51-3f6f0f4f2a10")


@pytest.fixture
def jobs(invoke, direct_database):
    """Three jobs, of which two differ in the last digit only; the last one is of a tenant."""
    with psycopg.connect(direct_database.url) as connection:
        for job, tenant in ((ONE, ""), (TWO, ""), (OTHER, "acme")):
            connection.execute(
                "insert into minutehand.jobs (id, kind, tenant) values (%s, 'echo', %s)", [job, tenant]
            )


VERBS = [
    ["show"],
    ["why"],
    ["cancel"],
    ["promote"],
    ["reschedule", "--in", "1h"],
    ["edit", "--priority", "7"],
    ["delete"],
    ["cancel", "--dry-run"],
    ["audit", "--job"],
    ["events", "--job"],
    ["ls", "--before"],
    ["enqueue", "echo", "--after"],
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_verbs_accept_the_first_digits_of_an_id(jobs, invoke, verb):
    assert invoke(*verb, "019c2f6e-8f0b").exit_code == 0


@pytest.mark.parametrize("verb", ["retry", "replay", "wait", "show"])
def test_verbs_of_finished_jobs_accept_the_first_digits(jobs, invoke, direct_database, verb):
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.jobs set deleted = now(), failed = true where id = %s", [OTHER])

    assert "not found" not in invoke(verb, "019C2F6E8F0B7", "--yes" if verb == "x" else "-ojson").stderr
    assert str(OTHER) in invoke(verb, "019c2f6e-8f0b-", "-o", "json").stdout


def test_digits_of_several_jobs_change_nothing(jobs, invoke, lines):
    refused = invoke("cancel", "019c2f6e-8f0b", "019c2f6e-8f0a-7c3d")

    assert refused.exit_code == 1
    assert "019c2f6e-8f0a-7c3d begins the ids of several jobs: " in refused.stderr
    assert f"{ONE} (echo in default), {TWO} (echo in default); add more digits" in refused.stderr
    assert {job["state"] for job in lines(invoke("ls", "-o", "json"))} == {"due"}


@pytest.mark.parametrize("verb", ["show", "why", "cancel"])
def test_unknown_digits_are_an_error(jobs, invoke, verb):
    missing = invoke(verb, "019c2f6e-8f0c")

    assert missing.exit_code == 1
    assert "no job has an id that begins with 019c2f6e-8f0c" in missing.stderr


def test_less_than_eight_digits_are_refused(jobs, invoke):
    assert "at least its first 8 digits" in invoke("show", "019c2f6").stderr


def test_why_prefers_a_job_to_a_queue(jobs, invoke):
    invoke("enqueue", "echo", "--queue", "deadbeef", "--key", "a")

    assert "echo in deadbeef, due" in invoke("why", "deadbeef").stdout
    assert str(OTHER) in invoke("why", "019c2f6e-8f0b").stdout


def test_digits_on_stdin_are_resolved_line_by_line(jobs, invoke):
    result = invoke("cancel", "-", stdin=f"019c2f6e-8f0b\n019c2f6e\n{ONE}\nnothing\n")

    assert result.exit_code == 1
    assert "line 2: 019c2f6e begins the ids of several jobs" in result.stderr
    assert "line 4: 'nothing' is not a valid job id" in result.stderr
    assert "2 cancelled, 2 refused" in result.stderr


def test_tenants_find_their_own_jobs_only(jobs, invoke):
    assert str(OTHER) in invoke("show", "019c2f6e", "--tenant", "acme").stdout
    missing = invoke("show", "019c2f6e-8f0a", "--tenant", "acme")
    assert "no job has an id" in missing.stderr


def test_short_ids_are_unique_and_as_short_as_possible(jobs, direct_database):
    with closing(Database(direct_database.url)) as database:
        assert short_ids(database, [ONE, OTHER]) == {ONE: str(ONE), OTHER: "019c2f6e-8f0b"}

        made = [job.id for job in enqueue_many([NewJob("echo")] * 500, connection=database)]
        short = short_ids(database, made)

        assert len(short) == 500
        assert {find_id(database, text.replace("-", "")) for text in short.values()} == set(made)
