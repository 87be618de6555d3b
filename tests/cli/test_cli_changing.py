"""`minutehand retry`, `cancel`, `promote`, `reschedule`, `delete` and `defaults`."""

from uuid import uuid4

import psycopg
import pytest


@pytest.fixture
def job(invoke):
    """Enqueue a job and return its id."""
    return lambda *arguments: invoke("enqueue", "echo", *arguments, "-o", "ids").stdout.strip()


def states(lines, invoke):
    return {each["id"]: each["state"] for each in lines(invoke("ls", "--all", "-o", "json"))}


def test_change_prints_each_outcome_and_exits_with_1_on_refusal(invoke, lines, job, direct_database):
    late, dead, running, missing = job("--in", "1h"), job(), job(), str(uuid4())
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.jobs set deleted = now(), failed = true where id = %s", [dead])
        connection.execute(
            "update minutehand.jobs set ack = gen_random_uuid(), claimed = now(), visible = now() + interval '1 h'"
            " where id = %s",
            [running],
        )
    result = invoke("promote", late, dead, running, missing)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{late} promoted",
        f"{dead} refused: the job is already dead",
        f"{running} refused: the job is running",
        f"{missing} refused: job not found",
    ]
    assert result.stderr == "1 promoted, 3 refused\n"
    assert states(lines, invoke) == {late: "due", dead: "dead", running: "running"}


def test_dead_jobs_can_be_piped_into_retry(execute, invoke, lines, job, direct_database):
    dead, other = job("--max-attempts", "1"), job("--in", "1h")
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.jobs set deleted = now(), failed = true where id = %s", [dead])
    listed = execute("ls", "--state", "dead", "-o", "ids", url=direct_database.url)
    retried = execute("retry", "-", "-o", "ids", url=direct_database.url, stdin=listed.stdout)

    assert (retried.returncode, retried.stdout.decode()) == (0, f"{dead}\n")
    assert states(lines, invoke) == {dead: "due", other: "scheduled"}


def test_ids_are_read_from_a_pipe_for_a_dash(invoke, lines, job):
    first, second = job(), job()
    result = invoke("cancel", "-", stdin=f"{first}\r\n\n{second}\n{first}\n")

    assert result.exit_code == 0
    assert set(states(lines, invoke).values()) == {"cancelled"}


@pytest.mark.parametrize("command", ["cancel", "retry", "delete", "promote", "replay", "wait"])
def test_pipe_without_a_dash_is_a_usage_error(invoke, lines, job, command):
    first = job()
    result = invoke(command, stdin=f"{first}\n")

    assert result.exit_code == 2
    assert "pipe them in with `-`" in result.stderr
    assert states(lines, invoke) == {first: "due"}


def test_invalid_id_in_a_pipe_is_reported_and_skipped(invoke, lines, job):
    first = job()
    result = invoke("cancel", "-", stdin=f"'; drop table jobs\n{first}\n\xff\n")

    assert result.exit_code == 1
    assert 'line 1: "\'; drop table jobs" is not a valid job id' in result.stderr
    assert states(lines, invoke) == {first: "cancelled"}


def test_change_by_filter_requires_confirmation(invoke, lines, job):
    ids = {job("--queue", "mail"), job("--queue", "mail")}
    other = job()
    unconfirmed = invoke("cancel", "--queue", "mail")
    tried = invoke("cancel", "--queue", "mail", "--dry-run")
    before = states(lines, invoke)
    done = invoke("cancel", "--queue", "mail", "--yes", "--reason", "wrong text")

    assert (unconfirmed.exit_code, unconfirmed.stdout) == (2, "")
    assert "2 jobs will be cancelled. Use --yes" in unconfirmed.stderr
    assert (tried.exit_code, len(tried.stdout.splitlines())) == (0, 2)
    assert tried.stderr == "2 jobs would be cancelled; nothing was changed\n"
    assert set(before.values()) == {"due"}
    assert done.exit_code == 0
    assert states(lines, invoke) == {**dict.fromkeys(ids, "cancelled"), other: "due"}
    assert "wrong text" in invoke("ls", "--state", "cancelled").stdout


def test_filters_select_only_changeable_jobs(invoke, lines, job, work):
    done, waiting = job(), job("--in", "1h")
    work()
    result = invoke("cancel", "--kind", "echo")

    assert result.exit_code == 0
    assert states(lines, invoke) == {done: "done", waiting: "cancelled"}


def test_dry_run_shows_refusals(invoke, lines, job):
    first = job()
    result = invoke("retry", first, str(uuid4()), "--dry-run")

    assert result.exit_code == 1
    assert f"{first} refused: the job is due" in result.stdout
    assert states(lines, invoke) == {first: "due"}


def test_reschedule_takes_a_time_or_a_delay(invoke, lines, job):
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
        (
            ["retry", "not-an-id"],
            "must be a job id (a UUID, or at least its first 8 digits), got 'not-an-id'",
        ),
        (["retry", "--queue", "mail", str(uuid4())], "expected ids or filters, got both"),
        (["reschedule", str(uuid4())], "expected --at or --in, got neither"),
        (["reschedule", str(uuid4()), "--in", "1h", "--at", "2030-01-01T00:00Z"], "got both"),
        (["reschedule", str(uuid4()), "--at", "2030-01-01T00:00"], "has no offset"),
        (["reschedule", str(uuid4()), "--in", "9999999d"], "after the year 9999"),
        (["ls", "--state", "sleeping"], "--state"),
        (["ls", "--before", "1"], "must be a job id"),
        (["ls", "--limit", "0"], "--limit"),
        (["delete", "--finished-until", "999999999d"], "before the year 1"),
        (["delete", "--finished-until", "1d", "--state", "due"], "--state"),
        (["delete", "--finished-until", "1d", "--key", "k"], "--key"),
        (["delete", "--finished-until", "1d", "--all"], "expected --all or --finished-until, got both"),
        (["delete", "--finished-until", "yesterday"], "is neither a time"),
        (["delete", "--all"], "requires --queue"),
        (
            ["delete", "--all", "--queue", "mail", "--kind", "echo"],
            "must not be combined with ids or other filters",
        ),
        (["replay", str(uuid4()), "--max-attempts", "many"], "--max-attempts"),
        (["defaults", "--priority", "1"], "expected KIND or --queue, got neither"),
        (["defaults", "echo", "--timeout", "never"], "is not a duration"),
        (["migrate", "--plan", "--status"], "at most one of"),
        (["work", "--handlers", "no/such/folder"], "not found"),
        (["work", "--lease", "0s"], "--lease"),
        (["completion", "cmd"], "bash"),
        (["sl"], "No such command"),
    ],
)
def test_usage_error_is_one_line_and_exits_with_2(invoke, arguments, says):
    result = invoke(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_delete_finished_jobs_requires_confirmation(invoke, lines, job, direct_database, work):
    old, young, waiting = job(), job(), job("--in", "1h")
    work()
    with psycopg.connect(direct_database.url) as connection:
        connection.execute(
            "update minutehand.jobs set deleted = now() - interval '40 days' where id = %s", [old]
        )
    tried = invoke("delete", "--finished-until", "30d", "--dry-run")
    unconfirmed = invoke("delete", "--finished-until", "30d")
    none = invoke("delete", "--finished-until", "30d", "--state", "dead", "--yes")
    before = states(lines, invoke)
    done = invoke("delete", "--finished-until", "30d", "--yes")

    assert (tried.exit_code, tried.stderr) == (0, "1 job would be deleted\n")
    assert unconfirmed.exit_code == 2
    assert none.stderr == "No job matches.\n"
    assert set(before) == {old, young, waiting}
    assert (done.exit_code, done.stderr) == (0, "1 job deleted\n")
    assert states(lines, invoke) == {young: "done", waiting: "scheduled"}


def test_defaults_of_a_queue_apply_to_kinds_without_their_own(invoke, lines):
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


def test_defaults_of_a_kind_accumulate_and_are_used(invoke, lines, job):
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
    assert invoke("defaults", "echo", "--reset").stderr.startswith("No defaults are set")
    assert invoke("defaults", "echo", "--priority", "77").exit_code == 2
