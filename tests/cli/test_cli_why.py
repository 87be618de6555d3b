"""`minutehand why`: the reason for people and for programs."""


def test_why_prints_the_reason_and_the_next_step(invoke):
    invoke("enqueue", "echo", "--queue", "mail", "--key", "ada")
    assert invoke("pause", "--queue", "mail", "--reason", "release").exit_code == 0
    job = invoke("ls", "-o", "ids").stdout.strip()

    head, sentence, step = invoke("why", job).stdout.splitlines()

    assert head == f"echo in mail, due ({job})"
    assert sentence.startswith("  It is paused: queue mail by ")
    assert sentence.endswith(", until somebody resumes it (release).")
    assert step == "  Next: minutehand resume --queue mail"
    assert invoke("why", "mail").stdout == invoke("why", "--queue", "mail", "--key", "ada").stdout


def test_why_prints_json(invoke, lines):
    invoke("enqueue", "echo", "--in", "3d")

    (answer,) = lines(invoke("why", "default", "-o", "json"))

    assert (answer["reason"], answer["kind"]) == ("scheduled", "echo")
    assert answer["next_step"] == f"to run it now: minutehand promote {answer['job']}"


def test_why_explains_the_latest_job_of_all_queues(invoke):
    assert "no job is due, so none is late" in invoke("why").stderr
    invoke("enqueue", "invoice", "--queue", "paused")
    invoke("pause", "--queue", "paused")
    invoke("enqueue", "echo", "--queue", "mail")

    assert invoke("why").stdout == invoke("why", "mail").stdout
    assert invoke("pause", "--all").exit_code == 0
    assert invoke("why").stdout == invoke("why", "paused").stdout


def test_why_rejects_what_it_cannot_find(invoke):
    assert invoke("why", "mail", "--key", "ada").exit_code == 2
    missing = invoke("why", "mail")
    assert missing.exit_code == 1
    assert "queue mail has no unfinished job" in missing.stderr


def test_why_names_a_kind_without_a_handler(invoke, work):
    invoke("enqueue", "gone", "--max-attempts", "1")
    work()

    _, sentence, step = invoke("why", "default").stdout.splitlines()

    assert sentence.startswith(
        "  A worker could not run it: UnknownKindError: no handler for kind gone; expected a function"
    )
    assert step.startswith("  Next: deploy a worker with a handler for gone, or: minutehand delete ")
