"""`minutehand batches`."""

NOBODY = "00000000-0000-0000-0000-000000000001"


def test_commands_open_show_and_change_a_batch(invoke, lines):
    batch = invoke("batches", "open", "--on-complete", "complete", "--name", "May").stdout.strip()
    job = invoke("enqueue", "echo", "--batch", batch, "-o", "ids").stdout.strip()
    assert invoke("batches", "close", batch).exit_code == 0
    assert "was closed before" in invoke("batches", "close", batch).stderr

    (listed,) = lines(invoke("batches", "ls", "-o", "json"))
    (shown,) = lines(invoke("batches", "show", batch, "-o", "json"))
    assert listed == shown
    assert (shown["name"], shown["state"], shown["open"]) == ("May", "closed", 1)
    assert "May" in invoke("batches", "ls").stdout
    assert invoke("batches", "cancel", batch, "-o", "ids").stdout.split() == [job]
    assert "ended" in invoke("batches", "show", batch).stdout
    assert "The batch has no unfinished job; nothing was" in invoke("batches", "cancel", batch).stderr
    assert invoke("batches", "retry", batch, "-o", "ids").stdout.split() == [job]
    assert "The batch has no dead, expired or" in invoke("batches", "retry", batch).stderr


def test_unknown_batch_is_reported(invoke):
    for verb in ("show", "cancel", "retry", "close"):
        answer = invoke("batches", verb, NOBODY)
        assert (answer.exit_code, "not found" in answer.stderr) == (1, True)


def test_first_digits_name_a_batch(invoke, lines):
    outer = invoke("batches", "open", "--name", "year").stdout.strip()
    inner = invoke("batches", "open", "--parent", outer[:18]).stdout.strip()
    digits = inner[:23]
    job = invoke("enqueue", "echo", "--batch", digits, "-o", "ids").stdout.strip()
    (shown,) = lines(invoke("batches", "show", digits, "-o", "json"))
    assert (shown["id"], shown["parent"], shown["open"]) == (inner, outer, 1)
    assert invoke("batches", "cancel", digits, "-o", "ids").stdout.split() == [job]
    assert invoke("batches", "retry", outer[:18], "-o", "ids").stdout.split() == [job]
    assert inner in invoke("batches", "close", digits).stderr
    assert "no batch has an id" in invoke("batches", "show", "00000000").stderr
    assert "must be a batch id" in invoke("batches", "show", "x").stderr
