"""`minutehand retry`, `cancel`, `promote`, `reschedule`, `purge` and `defaults`."""

from uuid import uuid4

import psycopg
import pytest


@pytest.fixture
def job(invoke):
    """Enqueue a job and return its id."""
    return lambda *arguments: invoke("enqueue", "echo", *arguments, "-o", "ids").stdout.strip()


def states(lines, invoke):
    return {each["id"]: each["state"] for each in lines(invoke("ls", "--all", "-o", "json"))}


def test_each_job_is_told_apart_and_a_refusal_is_exit_code_1(invoke, lines, job, direct_database):
    late, dead, running, nobody = job("--in", "1h"), job(), job(), str(uuid4())
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.jobs set deleted = now(), failed = true where id = %s", [dead])
        connection.execute(
            "update minutehand.jobs set ack = gen_random_uuid(), claimed = now(), visible = now() + interval '1 h'"
            " where id = %s",
            [running],
        )
    result = invoke("promote", late, dead, running, nobody)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{late} promoted",
        f"{dead} refused: it is dead already",
        f"{running} refused: a running job is not touched",
        f"{nobody} refused: there is no such job",
    ]
    assert result.stderr == "1 promoted, 3 refused\n"
    assert states(lines, invoke) == {late: "due", dead: "dead", running: "running"}


def test_dead_jobs_are_listed_and_piped_into_retry(run, invoke, lines, job, direct_database):
    dead, other = job("--max-attempts", "1"), job("--in", "1h")
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.jobs set deleted = now(), failed = true where id = %s", [dead])
    listed = run("ls", "--state", "dead", "-o", "ids", url=direct_database.url)
    retried = run("retry", "-", "-o", "ids", url=direct_database.url, stdin=listed.stdout)

    assert (retried.returncode, retried.stdout.decode()) == (0, f"{dead}\n")
    assert states(lines, invoke) == {dead: "due", other: "scheduled"}


def test_ids_are_read_from_a_pipe_without_a_dash_too(invoke, lines, job):
    first, second = job(), job()
    result = invoke("cancel", stdin=f"{first}\r\n\n{second}\n{first}\n")

    assert result.exit_code == 0
    assert set(states(lines, invoke).values()) == {"cancelled"}


def test_a_line_that_is_no_id_is_told_and_the_others_go_on(invoke, lines, job):
    first = job()
    result = invoke("cancel", "-", stdin=f"'; drop table jobs\n{first}\n\xff\n")

    assert result.exit_code == 1
    assert "line 1: \"'; drop table jobs\" is no job's id" in result.stderr
    assert states(lines, invoke) == {first: "cancelled"}


def test_many_jobs_are_changed_by_filter_only_with_yes(invoke, lines, job):
    ids = {job("--queue", "mail"), job("--queue", "mail")}
    other = job()
    asked = invoke("cancel", "--queue", "mail")
    tried = invoke("cancel", "--queue", "mail", "--dry-run")
    before = states(lines, invoke)
    done = invoke("cancel", "--queue", "mail", "--yes", "--reason", "wrong text")

    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "2 jobs will be cancelled. Say --yes" in asked.stderr
    assert (tried.exit_code, len(tried.stdout.splitlines())) == (0, 2)
    assert tried.stderr == "2 jobs would be cancelled; nothing was changed\n"
    assert set(before.values()) == {"due"}
    assert done.exit_code == 0
    assert states(lines, invoke) == {**dict.fromkeys(ids, "cancelled"), other: "due"}
    assert "wrong text" in invoke("ls", "--state", "cancelled").stdout


def test_filters_choose_only_what_can_be_changed(invoke, lines, job, work):
    done, waiting = job(), job("--in", "1h")
    work()
    result = invoke("cancel", "--kind", "echo")

    assert result.exit_code == 0
    assert states(lines, invoke) == {done: "done", waiting: "cancelled"}


def test_a_dry_run_tells_what_would_be_refused(invoke, lines, job):
    first = job()
    result = invoke("retry", first, str(uuid4()), "--dry-run")

    assert result.exit_code == 1
    assert f"{first} refused: it is due" in result.stdout
    assert states(lines, invoke) == {first: "due"}


def test_reschedule_moves_to_a_moment_or_by_a_delay(invoke, lines, job):
    first = job()
    at = invoke("reschedule", first, "--at", "2030-03-01T08:00", "--tz", "Europe/Berlin")
    moved = lines(invoke("ls", "-o", "json"))[0]
    past = invoke("reschedule", first, "--at", "2001-01-01T00:00Z")
    now = lines(invoke("ls", "-o", "json"))[0]
    later = invoke("reschedule", first, "--in", "2h30m")

    assert (at.exit_code, past.exit_code, later.exit_code) == (0, 0, 0)
    assert (moved["visible"], now["state"]) == ("2030-03-01T07:00:00+00:00", "due")
    assert lines(invoke("ls", "-o", "json"))[0]["state"] == "scheduled"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["retry", "not-an-id"], "is no job's id"),
        (["retry", "--queue", "mail", str(uuid4())], "not both"),
        (["reschedule", str(uuid4())], "--at or --in"),
        (["reschedule", str(uuid4()), "--in", "1h", "--at", "2030-01-01T00:00Z"], "--at or --in"),
        (["reschedule", str(uuid4()), "--at", "2030-01-01T00:00"], "has no offset"),
        (["reschedule", str(uuid4()), "--in", "9999999d"], "after the year 9999"),
        (["ls", "--state", "sleeping"], "--state"),
        (["ls", "--before", "1"], "is no job's id"),
        (["ls", "--limit", "0"], "--limit"),
        (["purge"], "--before or --older-than"),
        (["purge", "--older-than", "999999999d"], "before the year 1"),
        (["purge", "--older-than", "1d", "--state", "due"], "--state"),
        (["purge", "--before", "yesterday"], "is no moment"),
        (["defaults", "--priority", "1"], "name the KIND"),
        (["defaults", "echo", "--timeout", "never"], "is no duration"),
        (["migrate", "--plan", "--status"], "only one of"),
        (["work", "--handlers", "no/such/folder"], "there is no folder"),
        (["work", "--lease", "0s"], "--lease"),
        (["completion", "cmd"], "bash"),
        (["sl"], "No such command"),
    ],
)
def test_what_makes_no_sense_is_a_sentence_and_exit_code_2(invoke, arguments, says):
    result = invoke(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_purge_deletes_finished_jobs_of_an_age_when_told_twice(invoke, lines, job, direct_database, work):
    old, young, waiting = job(), job(), job("--in", "1h")
    work()
    with psycopg.connect(direct_database.url) as connection:
        connection.execute(
            "update minutehand.jobs set deleted = now() - interval '40 days' where id = %s", [old]
        )
    tried = invoke("purge", "--older-than", "30d", "--dry-run")
    asked = invoke("purge", "--older-than", "30d")
    none = invoke("purge", "--older-than", "30d", "--state", "dead", "--yes")
    before = states(lines, invoke)
    done = invoke("purge", "--older-than", "30d", "--yes")

    assert (tried.exit_code, tried.stderr) == (0, "1 job would be deleted.\n")
    assert asked.exit_code == 2
    assert none.stderr == "No finished job is that old.\n"
    assert set(before) == {old, young, waiting}
    assert (done.exit_code, done.stderr) == (0, "1 job deleted.\n")
    assert states(lines, invoke) == {young: "done", waiting: "scheduled"}


def test_a_queues_defaults_hold_for_kinds_that_have_none(invoke, lines):
    invoke("defaults", "--queue", "mail", "--max-attempts", "3", "--priority", "2")
    invoke("defaults", "--queue", "mail", "--priority", "1")
    invoke("defaults", "--queue", "other", "--priority", "4")
    invoke("defaults", "urgent", "--priority", "9")
    listed = lines(invoke("defaults", "--queue", "mail", "-o", "json"))
    for kind in ("echo", "urgent"):
        invoke("enqueue", kind, "--queue", "mail")
    rows = {row["kind"]: (row["max_attempts"], row["priority"]) for row in lines(invoke("ls", "-o", "json"))}

    assert [(each["kind"], each["queue"], each["max_attempts"], each["priority"]) for each in listed] == [
        (None, "mail", 3, 1)
    ]
    assert rows == {"echo": (3, 1), "urgent": (3, 9)}
    again = invoke("defaults", "--queue", "mail", "--reset", "--priority", "5", "-o", "json")
    assert lines(again)[0]["max_attempts"] is None


def test_a_kinds_defaults_are_set_by_and_by_and_listed_and_used(invoke, lines, job):
    invoke("defaults", "echo", "--queue", "mail", "--max-attempts", "3")
    invoke("defaults", "echo", "--retry", "fixed", "--retry-min", "5s", "--timeout", "30s")
    listed = lines(invoke("defaults", "-o", "json"))
    first = job()

    assert [(each["kind"], each["queue"], each["max_attempts"], each["timeout"]) for each in listed] == [
        ("echo", "mail", 3, 30)
    ]
    assert "fixed, after 5 s" in invoke("defaults").stdout
    assert (
        lines(invoke("ls", "-o", "json"))[0] | {"queue": "mail", "id": first}
        == lines(invoke("ls", "-o", "json"))[0]
    )
    assert lines(invoke("defaults", "echo", "--reset", "--priority", "1", "-o", "json"))[0]["queue"] is None
    assert invoke("defaults", "echo", "--priority", "77").exit_code == 1
