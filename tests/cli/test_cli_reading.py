"""`minutehand ls`, `show` and `stats`: output for people."""

from contextlib import closing

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many

HELD = "ack = gen_random_uuid()"
VALUE_ERROR = """error = '{"type": "ValueError", "message": "no such user\\nreally"}'"""
ON_REQUEST = """error = '{"type": "Cancelled", "message": "on request"}'"""
AN_HOUR_AGO, IN_A_MINUTE = "visible = now() - interval '1 hour'", "visible = now() + interval '1 minute'"
ENDED = "deleted = now() - interval '5 hours'"
NOT_JSON = """error = '{"type": "ResultError", "message": "not JSON", "stage": "result"}'"""
TOO_LATE = """error = '{"type": "ValueError", "message": "no", "stage": "after"}'"""

STATES = [
    ("scheduled", "visible = now() + interval '3 hours 1 minute'", "due in 3 h"),
    ("due", "visible = now() - interval '3 minutes'", "due for 3 min"),
    (
        "due",
        f"{AN_HOUR_AGO}, {HELD}, claimed = now() - interval '2 hours', attempts = 1",
        "its worker stopped responding",
    ),
    ("offered", f"{IN_A_MINUTE}, {HELD}, offered = now() - interval '2 hours'", "offered 2 h ago"),
    (
        "running",
        f"{IN_A_MINUTE}, {HELD}, claimed = now() - interval '2 hours', attempts = 2",
        "running for 2 h (2 of 8)",
    ),
    (
        "retrying",
        f"visible = now() + interval '2 hours 1 minute', attempts = 1, {VALUE_ERROR}",
        "(2 of 8): ValueError: no such user",
    ),
    ("done", ENDED, "done 5 h ago"),
    ("done", f"{ENDED}, {NOT_JSON}", "done 5 h ago, result dropped: ResultError: not JSON"),
    ("done", f"{ENDED}, {TOO_LATE}", "done 5 h ago, failed after its transaction: ValueError: no"),
    ("dead", f"{ENDED}, failed = true, {VALUE_ERROR}", "dead 5 h ago: ValueError: no such user"),
    ("cancelled", f"{ENDED}, failed = true, cancelled = true, {ON_REQUEST}", "cancelled 5 h ago: on request"),
]


def change(url: str, assignments: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(f"update minutehand.jobs set {assignments}")


@pytest.mark.parametrize(("state", "assignments", "words"), STATES)
def test_list_describes_each_state(invoke, lines, direct_database, state, assignments, words):
    invoke("enqueue", "echo")
    change(direct_database.url, assignments)

    assert words in invoke("ls", "--state", state).stdout.splitlines()[1]
    assert lines(invoke("ls", "-o", "json"))[0]["state"] == state
    assert words in invoke("show", invoke("ls", "-o", "ids").stdout.strip()).stdout


def test_dropped_results_are_listed(invoke, direct_database):
    invoke("enqueue", "echo")
    change(direct_database.url, ENDED)
    assert invoke("ls", "--result-dropped", "-o", "ids").stdout == ""

    change(direct_database.url, NOT_JSON)
    assert invoke("ls", "--result-dropped", "-o", "ids").stdout == invoke("ls", "-o", "ids").stdout


def test_filters_and_pages_narrow_the_list(invoke):
    for queue, kind, key in [("mail", "a", "x"), ("mail", "b", "y"), ("default", "b", "z")]:
        invoke("enqueue", kind, "--queue", queue, "--key", key)
    everything = invoke("ls", "-o", "ids").stdout.split()

    assert invoke("ls", "--queue", "mail", "-o", "ids").stdout.split() == everything[1:]
    assert invoke("ls", "--kind", "b", "-o", "ids").stdout.split() == everything[:2]
    assert invoke("ls", "--key", "x", "-o", "ids").stdout.split() == everything[2:]
    assert invoke("ls", "--state", "due", "--state", "dead", "-o", "ids").stdout.split() == everything
    assert invoke("ls", "--limit", "1", "-o", "ids").stdout.split() == everything[:1]
    assert invoke("ls", "--before", everything[0], "-o", "ids").stdout.split() == everything[1:]
    assert f"--before {everything[1]}" in invoke("ls", "--limit", "2").stderr


def test_list_is_filtered_by_headers_and_priority(invoke):
    for number, options in enumerate((("--header", "a=1=2", "--header", "b=2"), ("--priority", "9"), ())):
        invoke("enqueue", "echo", "--key", f"{number}", *options)
    _, second, first = invoke("ls", "-o", "ids").stdout.split()

    assert invoke("ls", "--header", "a=1=2", "--header", "b=2", "-o", "ids").stdout.split() == [first]
    assert invoke("ls", "--priority", "9", "-o", "ids").stdout.split() == [second]
    assert invoke("ls", "--header", "a=2").stderr == "No job matches.\n"
    assert invoke("ls", "--priority", "0").stderr == "No job matches.\n"
    assert invoke("ls", "--header", "a").exit_code == invoke("ls", "--priority", "10").exit_code == 2


def test_all_lists_every_page(execute, direct_database):
    with closing(Database(direct_database.url)) as database:
        assert len(list(enqueue_many([NewJob("echo")] * 2500, connection=database))) == 2500
    listed = execute("ls", "--all", "-o", "ids", url=direct_database.url).stdout.split()

    assert len(set(listed)) == len(listed) == 2500
    assert len(execute("ls", "--limit", "1001", "-o", "ids", url=direct_database.url).stdout.split()) == 1001
    assert execute("ls", "--all", url=direct_database.url).stdout.count(b"QUEUE") == 1


def test_empty_output_suggests_a_command(invoke):
    assert "minutehand enqueue" in invoke("ls").stderr
    assert "minutehand enqueue" in invoke("stats").stderr
    assert invoke("tick", "--dry-run").stderr == "No job is due.\n"
    assert "No defaults are set" in invoke("defaults").stderr
    invoke("enqueue", "echo")
    assert invoke("ls", "--queue", "other").stderr == "No job matches.\n"


def test_private_data_is_masked_by_default(invoke, lines):
    job = lines(
        invoke("enqueue", "echo", '{"card": "4111-secret"}', "--header", "token=secret", "-o", "json")
    )[0]["id"]
    masked = [
        invoke(*verb).stdout for verb in (["show", job], ["show", job, "-o", "json"], ["ls", "-o", "json"])
    ]
    shown = lines(invoke("show", job, "--payload", "-o", "json"))[0]

    assert not [output for output in masked if "secret" in output or "card" in output]
    assert "an object with 1 field, " in masked[0]
    assert (shown["payload"], shown["headers"]) == ({"card": "4111-secret"}, {"token": "secret"})
    assert "4111-secret" in invoke("show", job, "--payload").stdout


def test_trace_of_a_dead_job_is_shown_on_request(invoke, work):
    invoke("enqueue", "echo", '{"fail": "no luck"}', "--max-attempts", "1")
    work()
    job, quoted = invoke("ls", "-o", "ids").stdout.strip(), "raise RuntimeError(message)"
    masked = [
        invoke(*verb).stdout for verb in (["show", job], ["show", job, "-o", "json"], ["ls", "-o", "json"])
    ]
    shown = invoke("show", job, "--payload").stdout

    assert all("RuntimeError" in output and quoted not in output for output in masked)
    assert "bytes (use --payload)" in next(line for line in masked[0].splitlines() if "trace:" in line)
    assert invoke("show", job, "--payload", "-o", "json").stdout.count(quoted) == 2
    for part in ("RuntimeError: no luck", quoted, "enqueued:", "claimed:", "finished:", "1 of 1"):
        assert part in shown


def test_finished_job_does_not_run_in_the_future(invoke, work):
    job = invoke("enqueue", "echo", "--in", "5h", "-o", "ids").stdout.strip()
    invoke("cancel", job)
    invoke("retry", job)
    work()

    facts = dict(line.strip().split(":", 1) for line in invoke("show", job).stdout.splitlines()[1:])
    assert "ago)" in facts["finished"]
    assert "(" not in facts["run at"]


def test_stats_has_a_line_for_each_queue(invoke, lines):
    invoke("enqueue", "echo", "--queue", "mail")
    invoke("enqueue", "echo", "--queue", "mail", "--in", "1h")
    invoke("enqueue", "echo")
    table = [line.split() for line in invoke("stats").stdout.splitlines()]

    assert [row[:2] for row in table] == [["QUEUE", "SCHEDULED"], ["default", "1"], ["mail", "1"]]
    assert {
        (each["queue"], each["state"], each["jobs"]) for each in lines(invoke("stats", "-o", "json"))
    } == {
        ("default", "due", 1),
        ("mail", "due", 1),
        ("mail", "scheduled", 1),
    }


def test_stats_names_queues_that_no_worker_serves(invoke, direct_database):
    invoke("enqueue", "echo", "--queue", "mail")
    assert invoke("stats").stderr == ""
    change(direct_database.url, "run_at = run_at, visible = now() - interval '2 hours 1 minute'")

    assert "No worker serves queue mail: 1 job due, the oldest for 2 h" in invoke("stats").stderr


def test_tick_counts_due_jobs_and_offers_nothing(invoke, lines):
    invoke("enqueue", "echo")

    assert lines(invoke("tick", "--dry-run", "-o", "json")) == [{"due": {"default": 1}}]
    assert lines(invoke("ls", "-o", "json"))[0]["state"] == "due"


def test_tick_without_a_worker_offers_nothing(invoke, lines):
    invoke("enqueue", "echo")
    result = invoke("tick")

    assert result.exit_code == 2
    assert "MINUTEHAND_WORKER is not set" in result.stderr
    assert lines(invoke("ls", "-o", "json"))[0]["state"] == "due"
