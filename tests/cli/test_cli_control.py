"""`minutehand edit`, `delete`, `retry --rate`, `replay`, `pause`, `limit` and `audit`."""

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


def test_edit_changes_a_job(invoke, lines, job):
    job_id = job('{"a": 1}', "--in", "1h")
    result = invoke("edit", job_id, "--payload", '{"a": 2}', "--priority", "9", "--retry-min", "5s")

    assert (result.exit_code, result.stdout) == (0, f"{job_id} edited\n")
    (shown,) = lines(invoke("show", job_id, "--payload", "-o", "json"))
    assert (shown["payload"], shown["priority"], shown["retry"]["min"]) == ({"a": 2}, 9, 5)


def test_edit_sets_and_removes_expires_and_on_dead(invoke, lines, job):
    def shown():
        (fields,) = lines(invoke("show", job_id, "--payload", "-o", "json"))
        return fields["expires"], fields["on_dead"]

    job_id = job("{}", "--in", "1h")
    assert invoke("edit", job_id, "--expires", "2h", "--on-dead", '{"kind": "alert"}').exit_code == 0
    changed = shown()
    assert invoke("edit", job_id, "--no-expires", "--no-on-dead").exit_code == 0

    assert (changed, shown()) == ((7200, {"kind": "alert"}), (None, None))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--payload", "{"],
        ["--headers", "nope"],
        ["--expires", "2h", "--no-expires"],
        ["--on-dead", "alert", "--no-on-dead"],
    ],
)
def test_edit_without_fields_or_with_invalid_json_is_rejected(invoke, job, arguments):
    assert invoke("edit", job(), *arguments).exit_code == 2


def test_running_job_is_cancelled_but_not_edited(invoke, lines, job, sql):
    running = job()
    sql(
        "update minutehand.jobs set ack = gen_random_uuid(), claimed = now(), visible = now() + interval '1 h'"
    )

    assert invoke("edit", running, "--priority", "1").stdout == f"{running} refused: the job is running\n"
    assert invoke("cancel", running).exit_code == 1
    requested = invoke("cancel", running, "--running")
    assert (requested.exit_code, requested.stdout) == (
        0,
        f"{running} requested: the job ends at its next check\n",
    )
    assert states(lines, invoke) == {running: "running"}
    assert ", cancellation requested: on request" in invoke("ls").stdout


def test_delete_by_filter_deletes_upcoming_jobs(invoke, lines, job):
    gone, kept = job("--key", "a"), job()

    assert invoke("delete", "--key", "a").stdout == f"{gone} deleted\n"
    assert states(lines, invoke) == {kept: "due"}


def test_replay_creates_a_new_job(invoke, lines, dead):
    old = dead()
    new = invoke("replay", old, "-o", "ids").stdout.strip()

    assert states(lines, invoke) == {old: "dead", new: "due"}


def test_retry_at_a_rate_requires_confirmation(invoke, lines, dead):
    ids = {dead("--queue", "mail"), dead("--queue", "mail")}
    other = dead()
    tried = invoke("retry", "--state", "dead", "--queue", "mail", "--rate", "1", "--dry-run")
    requested = invoke("retry", "--state", "dead", "--queue", "mail", "--rate", "1")
    done = invoke("retry", "--state", "dead", "--queue", "mail", "--rate", "1", "--yes")

    assert {line.split()[0] for line in tried.stdout.splitlines()} == ids
    assert (requested.exit_code, done.exit_code) == (2, 0)
    assert states(lines, invoke)[other] == "dead"
    assert sorted(states(lines, invoke)[each] for each in ids) == ["due", "scheduled"]


def test_retry_at_a_rate_takes_ids_and_a_limit(invoke, lines, dead):
    first, second, third = dead(), dead(), dead()
    by_id = invoke("retry", first, second, "--rate", "1", "-o", "ids")
    limited = invoke("retry", "--finished-since", "1h", "--limit", "1", "-o", "ids")

    assert (by_id.stdout.split(), limited.stdout.split()) == ([first, second], [third])
    assert states(lines, invoke) == {first: "due", second: "scheduled", third: "due"}
    assert "from 0.001 to 1000000" in invoke("retry", first, "--rate", "0").stderr


def test_defaults_are_in_the_audit_trail(invoke, lines):
    invoke("defaults", "echo", "--priority", "9")
    (entry,) = lines(invoke("audit", "-o", "json"))

    assert (entry["actor"], entry["verb"]) == (getpass.getuser(), "defaults")
    assert entry["facts"] == {"kind": "echo", "priority": 9}


def test_replay_by_version_runs_each_job_once(invoke, lines, dead, sql):
    old = dead()
    sql("update minutehand.jobs set version = '1.9'")
    arguments = [
        "replay",
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

    (reported,) = lines(invoke(*arguments))
    assert (reported["id"], reported["outcome"]) == (old, "replayed")
    assert states(lines, invoke)[reported["new"]] in ("scheduled", "due")
    assert invoke(*arguments).stderr == "No job matches.\n"


def test_queue_is_paused_and_resumed(invoke, lines, job):
    job("--queue", "mail")
    assert invoke("pause", "--queue", "mail", "--for", "30m", "--reason", "release").exit_code == 0
    (reported,) = lines(invoke("controls", "-o", "json"))

    assert (reported["queue"], reported["paused"], reported["reason"], reported["busy"]) == (
        "mail",
        True,
        "release",
        0,
    )
    assert "mail" in invoke("controls").stdout
    assert invoke("resume", "--queue", "mail").stderr == "No longer paused.\n"
    late = invoke("pause", "--queue", "mail", "--until", "2020-01-01T00:00Z")
    assert (late.exit_code, "must be in the future, got" in late.stderr) == (2, True)
    assert invoke("resume", "--queue", "mail").exit_code == 1
    assert invoke("controls").stderr == "Nothing is paused or limited.\n"


def test_everything_is_paused_visibly_and_resumed(invoke, job):
    waits = job("--queue", "mail")
    assert "all jobs: paused" in invoke("pause", "--all", "--reason", "an upgrade").stderr

    for verb in ("ls", "stats"):
        assert "All jobs are paused: an upgrade. To resume: minutehand resume --all" in invoke(verb).stderr
        assert invoke(verb, "-o", "json").stderr == ""
    assert "paused:     all jobs: an upgrade" in invoke("show", waits).stdout
    assert invoke("controls").stdout.splitlines()[1].startswith("(all)")
    assert invoke("pause", "--all", "--queue", "mail").exit_code == 2
    assert invoke("resume", "--all").exit_code == 0
    assert invoke("ls").stderr == ""


def test_kind_is_limited(invoke, lines):
    assert invoke("limit", "2", "--kind", "report").stderr == "kind report: at most 2 at once\n"
    assert [each["limit"] for each in lines(invoke("controls", "-o", "json"))] == [2]
    assert invoke("unlimit", "--kind", "report").exit_code == 0
    assert invoke("limit", "2").exit_code == 2


def test_delete_all_deletes_the_upcoming_jobs_of_a_queue(invoke, lines, job):
    job("--queue", "mail"), job("--queue", "mail", "--in", "1h")
    other = job()
    counted = invoke("delete", "--queue", "mail", "--all", "--dry-run")
    unconfirmed = invoke("delete", "--queue", "mail", "--all")
    before = len(states(lines, invoke))
    deleted = invoke("delete", "--queue", "mail", "--all", "--yes")

    assert (counted.stderr, unconfirmed.exit_code, before) == ("2 jobs would be deleted\n", 2, 3)
    assert (deleted.exit_code, deleted.stderr) == (0, "2 jobs deleted\n")
    assert states(lines, invoke) == {other: "due"}


def test_audit_shows_the_login_and_no_payload(invoke, lines, job):
    job_id = job('"the secret"', "--in", "1h")
    invoke("promote", job_id)
    invoke("edit", job_id, "--payload", '"another secret"')
    reported = lines(invoke("audit", "--job", job_id, "-o", "json"))

    assert [(line["actor"], line["verb"]) for line in reported] == [
        (getpass.getuser(), "edit"),
        (getpass.getuser(), "promote"),
    ]
    table = invoke("audit", "--verb", "edit").stdout
    assert 'fields ["payload"]' in table
    assert "secret" not in table
    assert invoke("audit", "--actor", "nobody").stderr == "No audit entry matches.\n"


def test_show_lists_the_pauses_of_a_pending_job(invoke, job):
    waits, other = job("--queue", "mail"), job()
    invoke("pause", "--queue", "mail", "--kind", "echo", "--reason", "the provider is down")

    assert "paused:     queue mail, kind echo: the provider is down" in invoke("show", waits).stdout
    assert "paused" not in invoke("show", other).stdout
    invoke("resume", "--queue", "mail", "--kind", "echo")
    assert "paused" not in invoke("show", waits).stdout


def test_weight_of_a_tenant_is_set_listed_and_removed(invoke, lines) -> None:
    assert invoke("share").stderr == "All tenants have weight 1.\n"
    assert invoke("share", "3", "--of-tenant", "acme", "--queue", "mail").exit_code == 0
    assert lines(invoke("share", "-o", "json")) == [{"tenant": "acme", "queue": "mail", "weight": 3}]
    assert invoke("share", "--of-tenant", "acme", "--remove").exit_code == 1
    assert invoke("share", "--of-tenant", "acme", "--queue", "mail", "--remove").exit_code == 0
    assert invoke("share", "3").exit_code == invoke("share", "--of-tenant", "acme").exit_code == 2


def test_breaker_of_groups_is_declared(invoke) -> None:
    made = invoke("limit", "--per", "group", "--break-after", "5", "--break-for", "2m")
    assert made.stderr == "each group: a pause of 120 s after 5 failures in a row\n"
