"""`minutehand edit`, `remove`, `replay`, `redrive`, `reprocess`, `pause`, `limit`, `drop` and `audit`."""

import getpass

import psycopg
import pytest


@pytest.fixture
def job(invoke):
    """Enqueue a job and return its id."""
    return lambda *arguments: invoke("enqueue", "echo", *arguments, "-o", "ids").stdout.strip()


@pytest.fixture
def sql(direct_database):
    def sql(text, *parameters):
        with psycopg.connect(direct_database.url) as connection:
            connection.execute(text, parameters)

    return sql


@pytest.fixture
def dead(job, sql):
    """A job that is dead."""

    def dead(*arguments):
        job_id = job(*arguments)
        sql("update minutehand.jobs set deleted = now(), failed = true where id = %s", job_id)
        return job_id

    return dead


def states(lines, invoke):
    return {each["id"]: each["state"] for each in lines(invoke("ls", "--all", "-o", "json"))}


def test_a_job_is_edited_and_shows_it(invoke, lines, job):
    job_id = job('{"a": 1}', "--in", "1h")
    result = invoke("edit", job_id, "--payload", '{"a": 2}', "--priority", "9", "--retry-min", "5s")

    assert (result.exit_code, result.stdout) == (0, f"{job_id} edited\n")
    (shown,) = lines(invoke("show", job_id, "--payload", "-o", "json"))
    assert (shown["payload"], shown["priority"], shown["retry"]["min"]) == ({"a": 2}, 9, 5)


@pytest.mark.parametrize("said", [[], ["--payload", "{"], ["--headers", "nope"]])
def test_an_edit_that_says_nothing_or_no_json_is_a_mistake(invoke, job, said):
    assert invoke("edit", job(), *said).exit_code == 2


def test_a_running_job_is_not_edited_and_is_asked_to_end(invoke, lines, job, sql):
    running = job()
    sql(
        "update minutehand.jobs set ack = gen_random_uuid(), claimed = now(), visible = now() + interval '1 h'"
    )

    assert (
        invoke("edit", running, "--priority", "1").stdout
        == f"{running} refused: a running job is not touched\n"
    )
    assert invoke("cancel", running).exit_code == 1
    asked = invoke("cancel", running, "--running")
    assert (asked.exit_code, asked.stdout) == (0, f"{running} asked: it ends at its next check\n")
    assert states(lines, invoke) == {running: "running"}
    assert ", and was asked to end: by hand" in invoke("ls").stdout


def test_a_job_is_removed(invoke, lines, job):
    gone, kept = job("--key", "a"), job()

    assert invoke("remove", "--key", "a").stdout == f"{gone} removed\n"
    assert states(lines, invoke) == {kept: "due"}


def test_a_dead_job_is_replayed_as_a_new_one(invoke, lines, dead):
    old = dead()
    new = invoke("replay", old, "-o", "ids").stdout.strip()

    assert states(lines, invoke) == {old: "dead", new: "due"}


def test_the_dead_are_redriven_with_yes_only(invoke, lines, dead):
    ids = {dead("--queue", "mail"), dead("--queue", "mail")}
    other = dead()
    tried = invoke("redrive", "--queue", "mail", "--per-minute", "1", "--dry-run")
    asked = invoke("redrive", "--queue", "mail", "--per-minute", "1")
    done = invoke("redrive", "--queue", "mail", "--per-minute", "1", "--yes")

    assert {line.split()[0] for line in tried.stdout.splitlines()} == ids
    assert (asked.exit_code, done.exit_code) == (2, 0)
    assert states(lines, invoke)[other] == "dead"
    assert sorted(states(lines, invoke)[each] for each in ids) == ["due", "scheduled"]


def test_what_older_code_did_is_reprocessed_once(invoke, lines, dead, sql):
    old = dead()
    sql("update minutehand.jobs set version = '1.9'")
    arguments = [
        "reprocess",
        "--older-than",
        "1.10",
        "--state",
        "dead",
        "--over",
        "1h",
        "--yes",
        "-o",
        "json",
    ]

    (told,) = lines(invoke(*arguments))
    assert (told["id"], told["outcome"]) == (old, "reprocessed")
    assert states(lines, invoke)[told["new"]] in ("scheduled", "due")
    assert invoke(*arguments).stderr == "No finished job matches.\n"


def test_a_queue_is_paused_and_resumed(invoke, lines, job):
    job("--queue", "mail")
    assert invoke("pause", "--queue", "mail", "--for", "30m", "--why", "release").exit_code == 0
    (told,) = lines(invoke("controls", "-o", "json"))

    assert (told["queue"], told["paused"], told["why"], told["busy"]) == ("mail", True, "release", 0)
    assert "mail" in invoke("controls").stdout
    assert invoke("resume", "--queue", "mail").stderr == "It is no longer paused.\n"
    late = invoke("pause", "--queue", "mail", "--until", "2020-01-01T00:00Z")
    assert (late.exit_code, "is over already" in late.stderr) == (2, True)
    assert invoke("resume", "--queue", "mail").exit_code == 1
    assert invoke("controls").stderr == "Nothing is paused or limited.\n"


def test_a_kind_is_limited(invoke, lines):
    assert invoke("limit", "2", "--kind", "report").stderr == "kind report: at most 2 at once\n"
    assert [each["most"] for each in lines(invoke("controls", "-o", "json"))] == [2]
    assert invoke("unlimit", "--kind", "report").exit_code == 0
    assert invoke("limit", "2").exit_code == 1


def test_a_queue_is_dropped_by_who_types_its_name_twice(invoke, lines, job):
    job("--queue", "mail"), job("--queue", "mail", "--in", "1h")
    other = job()
    counted, wrong = invoke("drop", "mail"), invoke("drop", "mail", "--yes-drop", "Mail")
    before = len(states(lines, invoke))
    dropped = invoke("drop", "mail", "--yes-drop", "mail")

    assert (counted.stderr, wrong.exit_code, before) == ("2 jobs would be deleted\n", 2, 3)
    assert (dropped.exit_code, dropped.stderr) == (0, "2 jobs deleted\n")
    assert states(lines, invoke) == {other: "due"}


def test_the_trail_tells_which_login_did_what(invoke, lines, job):
    job_id = job('"the secret"', "--in", "1h")
    invoke("promote", job_id)
    invoke("edit", job_id, "--payload", '"another secret"')
    told = lines(invoke("audit", "--job", job_id, "-o", "json"))

    assert [(line["who"], line["verb"]) for line in told] == [
        (getpass.getuser(), "edit"),
        (getpass.getuser(), "promote"),
    ]
    table = invoke("audit", "--verb", "edit").stdout
    assert 'fields ["payload"]' in table
    assert "secret" not in table
    assert invoke("audit", "--who", "nobody").stderr == "Nothing was done by hand that matches.\n"


def test_a_job_that_waits_shows_what_is_paused_and_why(invoke, job):
    waits, other = job("--queue", "mail"), job()
    invoke("pause", "--queue", "mail", "--kind", "echo", "--why", "the provider is down")

    assert "paused:     queue mail, kind echo: the provider is down" in invoke("show", waits).stdout
    assert "paused" not in invoke("show", other).stdout
    invoke("resume", "--queue", "mail", "--kind", "echo")
    assert "paused" not in invoke("show", waits).stdout
